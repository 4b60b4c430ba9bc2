package study

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
)

// nameOrFile is the short form of a workload: a name, or the path of a file.
type nameOrFile struct {
	yamlfile.Word
	file  bool
	tried bool // there is a value, good or bad
}

// Read reads it.
func (x *nameOrFile) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.tried = true
	if n.Kind == yaml.ScalarNode && yamlfile.IsPath(n.Value) {
		var p filePath
		p.Read(d, n, f)
		x.Word, x.file = p.Word, true
		return
	}
	var name yamlfile.Name
	name.Read(d, n, f)
	x.Word = name.Word
}

// filePath is the path of a YAML file.
type filePath struct {
	yamlfile.Word
	tried bool
}

// pathPattern tells a path from a name.
const pathPattern = `^[^\x00-\x1f]*(/[^\x00-\x1f]*|\.ya?ml)$`

// Read reads it.
func (x *filePath) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	x.tried = true
	const expected = "the path of a file, such as ./mine.yaml"
	s, ok := d.Scalar(n, f, expected)
	switch {
	case !ok:
	case !yamlfile.IsPath(s) || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }):
		d.Bad(n, f, expected)
	case len(s) > yamlfile.MaxText:
		d.Add(d.At(n), fmt.Sprintf("%s has %d bytes", f.Key, len(s)), fmt.Sprintf("at most %d", yamlfile.MaxText))
	default:
		x.Text, x.At = s, d.At(n)
	}
}

// until is when a run ends whose number of blocks is left open: at a width, or
// when its claims are decided.
type until struct {
	fraction float64
	claims   bool
	at       yamlfile.Pos
}

// UntilClaims is the word for it.
const UntilClaims = "claims"

// Read reads it.
func (x *until) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	if n.Kind == yaml.ScalarNode && n.Value == UntilClaims {
		x.claims, x.at = true, d.At(n)
		return
	}
	const expected = "a percentage above 0% and at most 100%, such as 2%, or claims"
	var width yamlfile.Percent
	if _, ok := d.Fitting(n, f, expected, width.Parse); ok {
		x.fraction, x.at = width.Fraction, d.At(n)
	}
}

// rate is how often a second something is done; 0 leaves it to the program,
// below 0 is never.
type rate struct {
	hz float64
	at yamlfile.Pos
}

const ratePattern = `^(auto|off|([1-9][0-9]?|100)Hz)$`

var isRate = regexp.MustCompile(ratePattern).MatchString

// Read reads it.
func (x *rate) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "a whole rate from 1Hz to 100Hz, off or auto"
	s, ok := d.Fitting(n, f, expected, isRate)
	if !ok {
		return
	}
	x.at = d.At(n)
	switch s {
	case "auto":
	case "off":
		x.hz = -1
	default:
		// The pattern has it a number.
		x.hz, _ = strconv.ParseFloat(strings.TrimSuffix(s, "Hz"), 64)
	}
}
