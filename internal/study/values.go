package study

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// maxWord bounds names and levels, maxText titles, reasons and descriptions,
// both in bytes.
const (
	maxWord = 64
	maxText = 8 << 10
	// maxReference bounds a reference to an image, with a digest.
	maxReference = 255
)

// namePattern is what a name or a level looks like: never a path, never an
// option, and safe in ids, file names and tables.
const namePattern = `^[a-z0-9][a-z0-9._-]*$`

// levelPattern admits references to images too, such as alpine:3 or
// registry.example/team/image@sha256:0f…, whose every piece is a name.
const levelPattern = `^[a-z0-9][a-z0-9._-]*([/:@][a-z0-9][a-z0-9._-]*)*$`

var (
	isName  = regexp.MustCompile(namePattern).MatchString
	isLevel = regexp.MustCompile(levelPattern).MatchString
)

// scalar gives a node's text where it is one plain value.
func (d *decoder) scalar(n *yaml.Node, f field, expected string) (string, bool) {
	if n.Kind != yaml.ScalarNode || isNull(n) {
		d.add(d.at(n), fmt.Sprintf("%s is %s", f.key, kindOf(n)), expected)
		return "", false
	}
	return n.Value, true
}

func (d *decoder) bad(n *yaml.Node, f field, expected string) *Error {
	return d.add(d.at(n), fmt.Sprintf("%s is %s", f.key, quote(n.Value)), expected)
}

func (x *name) read(d *decoder, n *yaml.Node, f field) {
	if len(f.enum) > 0 {
		s, ok := d.scalar(n, f, oneOf(f.enum))
		switch {
		case !ok:
		case slices.Contains(f.enum, s):
			x.text, x.at = s, d.at(n)
		default:
			d.bad(n, f, oneOf(f.enum)).Suggestion = nearest(s, f.enum)
		}
		return
	}
	const expected = "a name: lower-case letters and digits, then also '.', '_', '-'"
	s, ok := d.scalar(n, f, expected)
	switch {
	case !ok:
	case n.ShortTag() != "!!str":
		d.bad(n, f, "a name (in quotes where it looks like a number or a truth value)")
	case !isName(s):
		d.bad(n, f, expected)
	case len(s) > maxWord:
		d.bad(n, f, fmt.Sprintf("at most %d letters", maxWord))
	default:
		x.text, x.at = s, d.at(n)
	}
}

func (x *text) read(d *decoder, n *yaml.Node, f field) {
	s, ok := d.scalar(n, f, "text")
	if !ok {
		return
	}
	// Escapes in a quoted string can make what the file itself may not hold.
	if i := strings.IndexFunc(s, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }); i >= 0 {
		d.bad(n, f, "text without control characters")
		return
	}
	if s = strings.TrimSpace(s); s == "" {
		d.bad(n, f, "some text")
		return
	}
	if len(s) > maxText {
		d.add(d.at(n), fmt.Sprintf("%s has %d bytes", f.key, len(s)), fmt.Sprintf("at most %d", maxText))
		return
	}
	x.text, x.at = s, d.at(n)
}

func (x *words) read(d *decoder, n *yaml.Node, f field) {
	x.at = d.at(n)
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
		if len(nodes) == 0 {
			d.add(d.at(n), f.key+" is an empty list", "at least one word: with none there is no combination left")
		}
	}
	seen := map[string]bool{}
	for _, c := range nodes {
		const expected = "a word, or a list of words: lower-case letters and digits, then also '.', '_', '-'"
		s, ok := d.scalar(c, f, expected)
		most := maxWord
		if f.reference {
			most = maxReference
		}
		switch {
		case !ok:
		case !isName(s) && !(f.reference && isLevel(s)):
			d.bad(c, f, expected)
		case len(s) > most:
			d.bad(c, f, fmt.Sprintf("at most %d letters", most))
		case seen[s]:
			d.add(d.at(c), fmt.Sprintf("%s names %s twice", f.key, quote(s)), "each once (the same environment twice, for an A/A comparison, is as: [a, b])")
		default:
			seen[s] = true
			x.list = append(x.list, word{s, d.at(c)})
		}
	}
}

func (x *axes) read(d *decoder, n *yaml.Node, f field) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.add(d.at(n), fmt.Sprintf("%s is %s", f.key, kindOf(n)), "keys with one word or a list of words each")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			d.add(d.at(k), "a key is "+kindOf(k), "a word")
			continue
		}
		if j := slices.IndexFunc(*x, func(a axis) bool { return a.key.text == k.Value }); j >= 0 {
			d.add(d.at(k), fmt.Sprintf("key %s stands here again (first in line %d)", quote(k.Value), (*x)[j].key.at.line), "each key once")
			continue
		}
		x.readAxis(d, k, n.Content[i+1])
	}
}

func (x *axes) readAxis(d *decoder, k, val *yaml.Node) {
	if isNull(val) {
		d.add(d.at(k), fmt.Sprintf("%s has no value", quote(k.Value)), "one, or no such line")
		return
	}
	var ws words
	ws.read(d, val, field{key: k.Value, reference: k.Value == imageFactor})
	*x = append(*x, axis{word{k.Value, d.at(k)}, ws})
}

func (x *count) read(d *decoder, n *yaml.Node, f field) {
	expected := fmt.Sprintf("a whole number from %d to %d", f.min, f.max)
	if f.min == f.max {
		expected = strconv.FormatInt(f.min, 10)
	}
	s, ok := d.scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(v, 10) != s || v < f.min || v > f.max || n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		d.bad(n, f, expected)
		return
	}
	x.n, x.at = v, d.at(n)
}

// durationPattern admits what time.ParseDuration does, without signs.
const durationPattern = `^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$`

var isDuration = regexp.MustCompile(durationPattern).MatchString

func (x *duration) read(d *decoder, n *yaml.Node, f field) {
	const expected = "a time with its unit (ns, us, ms, s, m, h), such as 500ms or 1m30s"
	s, ok := d.scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := time.ParseDuration(s)
	if err != nil || !isDuration(s) {
		d.bad(n, f, expected)
		return
	}
	x.ns, x.at = int64(v), d.at(n)
}

const (
	sizePattern    = `^(none|[0-9]+(\.[0-9]+)?(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB))$`
	percentPattern = `^[0-9]+(\.[0-9]+)?%$`
	amountPattern  = `^(none|[0-9]+(\.[0-9]+)?)$`
)

var (
	sizeParts    = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(B|kB|MB|GB|TB|KiB|MiB|GiB|TiB)$`)
	isPercent    = regexp.MustCompile(percentPattern).MatchString
	isAmount     = regexp.MustCompile(amountPattern).MatchString
	unitsOfBytes = map[string]float64{
		"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
		"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
	}
)

// none is the word for "no limit".
const none = "none"

func (x *size) read(d *decoder, n *yaml.Node, f field) {
	const expected = "a size with its unit (B, kB, MB, GB, TB, KiB, MiB, GiB, TiB), such as 512MiB, or none"
	s, ok := d.scalar(n, f, expected)
	if !ok {
		return
	}
	if s == none {
		x.at = d.at(n)
		return
	}
	parts := sizeParts.FindStringSubmatch(s)
	if parts == nil {
		d.bad(n, f, expected)
		return
	}
	v, err := strconv.ParseFloat(parts[1], 64)
	v *= unitsOfBytes[parts[2]]
	const least, most = 1 << 20, 1 << 50
	if err != nil || v < least || v > most || v != math.Trunc(v) {
		d.bad(n, f, "a whole number of bytes from 1MiB to 1024TiB")
		return
	}
	x.bytes, x.at = int64(v), d.at(n)
}

func (x *percent) read(d *decoder, n *yaml.Node, f field) {
	const expected = "a percentage above 0% and at most 100%, such as 1% or 0.5%"
	s, ok := d.scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !isPercent(s) || v <= 0 || v > 100 {
		d.bad(n, f, expected)
		return
	}
	x.fraction, x.at = v/100, d.at(n)
}

func (x *amount) read(d *decoder, n *yaml.Node, f field) {
	const expected = "a number from 0.01 to 4096, or none"
	s, ok := d.scalar(n, f, expected)
	if !ok {
		return
	}
	if s == none {
		x.at = d.at(n)
		return
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !isAmount(s) || v < 0.01 || v > 4096 {
		d.bad(n, f, expected)
		return
	}
	x.n, x.at = v, d.at(n)
}
