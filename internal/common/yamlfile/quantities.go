package yamlfile

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// Duration is a time with its unit. As with the other quantities, 0 with a
// place that is given is what None, or "0s", stands for.
type Duration struct {
	NS int64
	At Pos
}

// Size is a number of bytes with its unit, 0 for None.
type Size struct {
	Bytes int64
	At    Pos
}

// Percent is a percentage, as a fraction.
type Percent struct {
	Fraction float64
	At       Pos
}

// Amount is a number, 0 for None.
type Amount struct {
	N  float64
	At Pos
}

// DurationPattern admits what time.ParseDuration does, without signs.
const DurationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

var isDuration = regexp.MustCompile(DurationPattern).MatchString

// Read reads it.
func (x *Duration) Read(d *Decoder, n *yaml.Node, f Field) {
	const expected = "a time with its unit (ns, us, ms, s, m, h), such as 500ms or 1m30s"
	s, ok := d.Scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := time.ParseDuration(s)
	if err != nil || !isDuration(s) {
		d.Bad(n, f, expected)
		return
	}
	x.NS, x.At = int64(v), d.At(n)
}

// The patterns of sizes, percentages and amounts.
const (
	SizePattern    = `^(none|[0-9]+(\.[0-9]+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB))$`
	PercentPattern = `^[0-9]+(\.[0-9]+)?%$`
	AmountPattern  = `^(none|[0-9]+(\.[0-9]+)?)$`
)

var (
	sizeParts    = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$`)
	isPercent    = regexp.MustCompile(PercentPattern).MatchString
	isAmount     = regexp.MustCompile(AmountPattern).MatchString
	unitsOfBytes = map[string]float64{
		"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
)

// None is the word for "no limit".
const None = "none"

// Read reads it.
func (x *Size) Read(d *Decoder, n *yaml.Node, f Field) {
	const expected = "a size with its unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512MiB, or none"
	s, ok := d.Fitting(n, f, expected, func(s string) bool { return s == None || sizeParts.MatchString(s) })
	if !ok {
		return
	}
	if s == None {
		x.At = d.At(n)
		return
	}
	v, ok := ParseSize(s)
	if !ok {
		d.Bad(n, f, "a whole number of bytes from 1MiB to 1024TiB")
		return
	}
	x.Bytes, x.At = v, d.At(n)
}

// ParseSize reads a size with its unit, such as 512MiB, in bytes; false where it is
// none, or no whole number of bytes from 1MiB to 1024TiB.
func ParseSize(s string) (bytes int64, ok bool) {
	parts := sizeParts.FindStringSubmatch(s)
	if parts == nil {
		return 0, false
	}
	v, err := strconv.ParseFloat(parts[1], 64)
	v *= unitsOfBytes[parts[2]]
	const least, most = 1 << 20, 1 << 50
	return int64(v), err == nil && v >= least && v <= most && v == math.Trunc(v)
}

// FormatSize writes a number of bytes as ParseSize reads it, in the largest unit of
// which it is a whole number; 0 is None.
func FormatSize(bytes int64) string {
	if bytes == 0 {
		return None
	}
	for _, unit := range []string{"TiB", "TB", "GiB", "GB", "MiB", "MB", "KiB", "kB"} {
		if by := int64(unitsOfBytes[unit]); bytes%by == 0 {
			return strconv.FormatInt(bytes/by, 10) + unit
		}
	}
	return strconv.FormatInt(bytes, 10) + "B"
}

// Read reads it.
func (x *Percent) Read(d *Decoder, n *yaml.Node, f Field) {
	const expected = "a percentage above 0% and at most 100%, such as 1% or 0.5%"
	if _, ok := d.Fitting(n, f, expected, x.Parse); ok {
		x.At = d.At(n)
	}
}

// Parse takes the percentage from a text; false where it is none.
func (x *Percent) Parse(s string) bool {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !isPercent(s) || v <= 0 || v > 100 {
		return false
	}
	x.Fraction = v / 100
	return true
}

// Read reads it.
func (x *Amount) Read(d *Decoder, n *yaml.Node, f Field) {
	const expected = "a number from 0.01 to 4096, or none"
	s, ok := d.Scalar(n, f, expected)
	if !ok {
		return
	}
	if s == None {
		x.At = d.At(n)
		return
	}
	v, ok := ParseAmount(s)
	if !ok {
		d.Bad(n, f, expected)
		return
	}
	x.N, x.At = v, d.At(n)
}

// ParseAmount reads a number from 0.01 to 4096; false where it is none.
func ParseAmount(s string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(s, 64)
	return n, err == nil && isAmount(s) && n >= 0.01 && n <= 4096
}
