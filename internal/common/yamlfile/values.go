package yamlfile

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// MaxWord bounds names and levels, MaxText titles, reasons and descriptions,
// both in bytes.
const (
	MaxWord = 64
	MaxText = 8 << 10
)

// NamePattern is what a name or a level looks like: never a path, never an
// option, and safe in ids, file names and tables.
const NamePattern = `^[a-z0-9][a-z0-9._-]*$`

var isName = regexp.MustCompile(NamePattern).MatchString

// IsName says whether a word is a name.
func IsName(s string) bool { return isName(s) }

// A Word is a piece of the file with its place.
type Word struct {
	Text string
	At   Pos
}

// Name is a word that can't be a path or an option.
type Name struct{ Word }

// Text is any text but control characters.
type Text struct{ Word }

// Count is a whole number within the field's limits.
type Count struct {
	N  int64
	At Pos
}

// Scalar gives a node's text where it is one plain value.
func (d *Decoder) Scalar(n *yaml.Node, f Field, expected string) (string, bool) {
	if n.Kind != yaml.ScalarNode || IsNull(n) {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, KindOf(n)), expected)
		return "", false
	}
	return n.Value, true
}

// Fitting is Scalar for a text that fits what is expected.
func (d *Decoder) Fitting(n *yaml.Node, f Field, expected string, fits func(string) bool) (string, bool) {
	s, ok := d.Scalar(n, f, expected)
	if ok && !fits(s) {
		d.Bad(n, f, expected)
		return "", false
	}
	return s, ok
}

// Take reads a text that fits what is expected.
func (x *Word) Take(d *Decoder, n *yaml.Node, f Field, expected string, fits func(string) bool) {
	if s, ok := d.Fitting(n, f, expected, fits); ok {
		x.Text, x.At = s, d.At(n)
	}
}

// Bad adds that a value is not what was expected.
func (d *Decoder) Bad(n *yaml.Node, f Field, expected string) *Error {
	return d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, Quote(n.Value)), expected)
}

// Read reads it.
func (x *Name) Read(d *Decoder, n *yaml.Node, f Field) {
	if len(f.Enum) > 0 {
		s, ok := d.Scalar(n, f, OneOf(f.Enum))
		switch {
		case !ok:
		case slices.Contains(f.Enum, s):
			x.Text, x.At = s, d.At(n)
		default:
			d.Bad(n, f, OneOf(f.Enum)).Suggestion = Nearest(s, f.Enum)
		}
		return
	}
	const expected = "a name: lower-case letters and digits, then also '.', '_', '-'"
	s, ok := d.Scalar(n, f, expected)
	switch {
	case !ok:
	case n.ShortTag() != "!!str":
		d.Bad(n, f, "a name (in quotes where it looks like a number or a truth value)")
	case !isName(s):
		d.Bad(n, f, expected)
	case len(s) > MaxWord:
		d.Bad(n, f, fmt.Sprintf("at most %d letters", MaxWord))
	default:
		x.Text, x.At = s, d.At(n)
	}
}

// Read reads it.
func (x *Text) Read(d *Decoder, n *yaml.Node, f Field) {
	s, ok := d.Scalar(n, f, "text")
	if !ok {
		return
	}
	// Escapes in a quoted string can make what the file itself may not hold.
	if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		d.Bad(n, f, "text without control characters")
		return
	}
	if s = strings.TrimSpace(s); s == "" {
		d.Bad(n, f, "some text")
		return
	}
	if len(s) > MaxText {
		d.Add(d.At(n), fmt.Sprintf("%s has %d bytes", f.Key, len(s)), fmt.Sprintf("at most %d", MaxText))
		return
	}
	x.Text, x.At = s, d.At(n)
}

// Read reads it.
func (x *Count) Read(d *Decoder, n *yaml.Node, f Field) {
	expected := fmt.Sprintf("a whole number from %d to %d", f.Min, f.Max)
	if f.Min == f.Max {
		expected = strconv.FormatInt(f.Min, 10)
	}
	s, ok := d.Scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != s || v < f.Min || v > f.Max || n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		d.Bad(n, f, expected)
		return
	}
	x.N, x.At = v, d.At(n)
}

// Flag is true or false.
type Flag struct {
	On bool
	At Pos
}

// Read reads it.
func (x *Flag) Read(d *Decoder, n *yaml.Node, f Field) {
	is := func(s string) bool { return n.ShortTag() == "!!bool" && (s == "true" || s == "false") }
	if s, ok := d.Fitting(n, f, "true or false", is); ok {
		x.On, x.At = s == "true", d.At(n)
	}
}
