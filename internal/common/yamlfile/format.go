package yamlfile

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Format is what kind of file this is, for messages.
type Format struct {
	Noun, Plural string // "study", "studies"
	// Key is the first key, and Version the version of the format that is its value.
	Key     string
	Version int
	// Instead says, after a semicolon, what saves repetition; or "".
	Instead string
}

func (f *Format) a() string { return "a " + f.Noun }

// Decode reads the text of a file of this format into the document that into points to;
// called is what the file is called in messages. The root is nil where it is no such file.
// What is wrong is among the problems of d.
func (f *Format) Decode(d *Decoder, data []byte, into any, called string) (root *yaml.Node) {
	root = f.Parse(d.Path, data, d.Problems)
	if root == nil || !f.is(d, root) {
		return nil
	}
	d.Value(root, reflect.ValueOf(into).Elem(), Field{Key: called})
	return root
}

// is looks at the format version before anything else: of another format, or
// of a file of another kind, nothing else that we would say is true.
func (f *Format) is(d *Decoder, root *yaml.Node) bool {
	expected := fmt.Sprintf("the line \"%s: %d\", the version of the format", f.Key, f.Version)
	if root.Kind != yaml.MappingNode {
		d.Add(d.At(root), "this is no "+f.Noun+" but "+KindOf(root), expected+", and further keys")
		return false
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != f.Key {
			continue
		}
		v := root.Content[i+1]
		if n, err := strconv.Atoi(v.Value); err == nil && n > f.Version {
			d.Add(d.At(v), fmt.Sprintf("this %s has format %d", f.Noun, n), fmt.Sprintf("at most format %d; a newer plimsoll reads it", f.Version))
			return false
		}
		return true
	}
	e := d.Add(d.At(root), fmt.Sprintf("this is no %s: it has no key %q", f.Noun, f.Key), expected)
	for i := 0; i < len(root.Content); i += 2 {
		if near := Nearest(root.Content[i].Value, []string{f.Key}); near != "" {
			e.Line, e.Column, e.Suggestion = root.Content[i].Line, root.Content[i].Column, near
			break
		}
	}
	return false
}

// IsPath tells the path of a file from a name: it has a separator in it, or
// ends in .yaml or .yml.
func IsPath(s string) bool {
	return strings.ContainsRune(s, '/') || strings.HasSuffix(s, ".yaml") || strings.HasSuffix(s, ".yml")
}
