package study

import (
	"cmp"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
)

// ratioRange is what a ratio must be.
type ratioRange struct {
	r  record.Range
	at yamlfile.Pos
}

// valueRange is what a value must be.
type valueRange struct {
	r  record.Range
	at yamlfile.Pos
}

const (
	plainNumber    = `([0-9]+(?:\.[0-9]+)?)`
	signedNumber   = `(-?[0-9]+(?:\.[0-9]+)?) ?(ns|us|ms|s|B|kB|MB|GB|KiB|MiB|GiB|%)?`
	ratioPattern   = `^(?:(<=?|>=?) *` + plainNumber + `|` + plainNumber + `\.\.` + plainNumber + `)$`
	valuePattern   = `^(?:(<=?|>=?) *` + signedNumber + `|` + signedNumber + `\.\.` + signedNumber + `)$`
	ratioExpected  = `a range such as "< 1", ">= 2" or 0.95..1.05`
	valueExpected  = `a range with units (ns to s, B to GiB, %), such as "< 1ms" or 15MB..30MB`
	percentOfWhole = "percent"
)

var (
	ratioParts = regexp.MustCompile(ratioPattern)
	valueParts = regexp.MustCompile(valuePattern)
)

// claimUnits gives the metric's unit and the factor to it.
var claimUnits = map[string]struct {
	unit string
	by   float64
}{
	"": {"", 1}, "%": {percentOfWhole, 1},
	"ns": {"ns", 1}, "us": {"ns", 1e3}, "ms": {"ns", 1e6}, "s": {"ns", 1e9},
	"B": {"bytes", 1}, "kB": {"bytes", 1e3}, "MB": {"bytes", 1e6}, "GB": {"bytes", 1e9},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
}

// Read reads it.
func (x *ratioRange) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	s, ok := d.Fitting(n, f, ratioExpected, ratioParts.MatchString)
	if !ok {
		return
	}
	m := ratioParts.FindStringSubmatch(s)
	if x.r, ok = rangeOf(s, m[1], m[2], "", m[3], "", m[4], ""); !ok || x.r.Max != nil && *x.r.Max <= 0 {
		d.Bad(n, f, ratioExpected+", the lower bound first; a ratio is above 0")
		return
	}
	x.at = d.At(n)
}

// Read reads it.
func (x *valueRange) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	s, ok := d.Fitting(n, f, valueExpected, valueParts.MatchString)
	if !ok {
		return
	}
	m := valueParts.FindStringSubmatch(s)
	if x.r, ok = rangeOf(s, m[1], m[2], m[3], m[4], m[5], m[6], m[7]); !ok {
		d.Bad(n, f, valueExpected+", the lower bound first, both in units of one kind")
		return
	}
	x.at = d.At(n)
}

// rangeOf makes a range of a sign and a bound, or of two bounds; the last
// result is false where it would be empty or of two kinds.
func rangeOf(text, sign, bound, unit, lo, loUnit, hi, hiUnit string) (record.Range, bool) {
	number := func(s, unit string) *float64 {
		v, _ := strconv.ParseFloat(s, 64) // the pattern has it a number
		v *= claimUnits[unit].by
		return &v
	}
	r := record.Range{Text: text}
	switch sign {
	case "<", "<=":
		r.Max, r.MaxOpen = number(bound, unit), sign == "<"
	case ">", ">=":
		r.Min, r.MinOpen = number(bound, unit), sign == ">"
	default:
		loUnit = cmp.Or(loUnit, hiUnit) // 15..30MB
		r.Min, r.Max, unit = number(lo, loUnit), number(hi, hiUnit), hiUnit
		if *r.Min > *r.Max || claimUnits[loUnit].unit != claimUnits[hiUnit].unit {
			return r, false
		}
	}
	r.Unit = claimUnits[unit].unit
	return r, true
}
