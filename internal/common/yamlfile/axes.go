package yamlfile

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Words is one word or a list of words, each once.
type Words struct {
	List []Word
	At   Pos
}

// Axes are keys with one word or several, in the order of the file.
type Axes []Axis

// Axis is a key with its levels.
type Axis struct {
	Key    Word
	Levels Words
}

// An admits is what a list of words may hold.
type admits struct {
	ok       func(string) bool
	most     int
	expected string
}

var names = admits{isName, MaxWord, "a word, or a list of words: lower-case letters and digits, then also '.', '_', '-'"}

// Read reads it.
func (x *Words) Read(d *Decoder, n *yaml.Node, f Field) { x.read(d, n, f, names) }

func (x *Words) read(d *Decoder, n *yaml.Node, f Field, a admits) {
	x.At = d.At(n)
	seen := map[string]bool{}
	for _, c := range d.items(n, f, "at least one word: with none there is no combination left") {
		s, ok := d.Scalar(c, f, a.expected)
		switch {
		case !ok:
		case !a.ok(s):
			d.Bad(c, f, a.expected)
		case len(s) > a.most:
			d.Bad(c, f, fmt.Sprintf("at most %d letters", a.most))
		case seen[s]:
			d.Add(d.At(c), fmt.Sprintf("%s names %s twice", f.Key, Quote(s)), "each once (the same environment twice, for an A/A comparison, is as: [a, b])")
		default:
			seen[s] = true
			x.List = append(x.List, Word{s, d.At(c)})
		}
	}
}

// Read reads it.
func (x *Axes) Read(d *Decoder, n *yaml.Node, f Field) { x.read(d, n, f, d.admits) }

func (x *Axes) read(d *Decoder, n *yaml.Node, f Field, of func(key string) admits) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, KindOf(n)), "keys with one word or a list of words each")
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if k.Kind != yaml.ScalarNode {
			d.Add(d.At(k), "a key is "+KindOf(k), "a word")
			continue
		}
		if j := slices.IndexFunc(*x, func(a Axis) bool { return a.Key.Text == k.Value }); j >= 0 {
			d.Add(d.At(k), fmt.Sprintf("key %s stands here again (first in line %d)", Quote(k.Value), (*x)[j].Key.At.Line), "each key once")
			continue
		}
		x.readAxis(d, k, n.Content[i+1], of(k.Value))
	}
}

// ReadKey reads one more axis.
func (x *Axes) ReadKey(d *Decoder, k, val *yaml.Node) { x.readAxis(d, k, val, d.admits(k.Value)) }

func (x *Axes) readAxis(d *Decoder, k, val *yaml.Node, a admits) {
	if IsNull(val) {
		d.Add(d.At(k), fmt.Sprintf("%s has no value", Quote(k.Value)), "one, or no such line")
		return
	}
	var ws Words
	ws.read(d, val, Field{Key: k.Value}, a)
	*x = append(*x, Axis{Word{k.Value, d.At(k)}, ws})
}

// ReferencePattern admits references to images beside names, such as alpine:3
// or registry.example/team/image@sha256:0f…, whose every piece is a name.
// MaxReference bounds one, with a digest.
const (
	ReferencePattern = `^[a-z0-9][a-z0-9._-]*([/:@][a-z0-9][a-z0-9._-]*)*$`
	MaxReference     = 255
)

var isReference = regexp.MustCompile(ReferencePattern).MatchString

// IsReference says whether a word is a name or a reference to an image.
func IsReference(s string) bool { return isReference(s) && len(s) <= MaxReference }

func (d *Decoder) admits(key string) admits {
	if key != "" && key == d.References {
		return admits{isReference, MaxReference, names.expected}
	}
	if slices.Contains(d.Joined, key) {
		return joined
	}
	if key != "" && key == d.Sizes {
		return settings
	}
	return names
}

// JoinedPattern admits several names in one, as masked-paths+pid-namespace, each with
// a value perhaps, as huge-pages=never.
const JoinedPattern = `^[a-z0-9][a-z0-9._-]*(=[a-z0-9._-]+)?(\+[a-z0-9][a-z0-9._-]*(=[a-z0-9._-]+)?)*$`

var joined = admits{regexp.MustCompile(JoinedPattern).MatchString, MaxReference, names.expected + "; several of them joined by '+'"}

// SettingPattern is what a workload's parameter may be set to: a name that may
// have capitals, such as 16MiB.
const SettingPattern = `^[A-Za-z0-9][A-Za-z0-9._-]*$`

var settings = admits{
	regexp.MustCompile(SettingPattern).MatchString, MaxWord,
	"a word, or a list of words: letters and digits, then also '.', '_', '-'",
}

// Settings are axes whose levels are settings.
type Settings Axes

// Read reads it.
func (x *Settings) Read(d *Decoder, n *yaml.Node, f Field) {
	(*Axes)(x).read(d, n, f, func(string) admits { return settings })
}

// SettingWords is one setting or a list of settings, each once.
type SettingWords struct{ Words }

// Read reads it.
func (x *SettingWords) Read(d *Decoder, n *yaml.Node, f Field) { x.read(d, n, f, settings) }
