package yamlfile

import (
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v4"
)

// maxKey bounds a key that the file's author chooses, in bytes.
const maxKey = 255

// Keyed is a group whose keys the file's author chooses, in the order of the
// file.
type Keyed[T any] []KeyedEntry[T]

// KeyedEntry is a key with its value.
type KeyedEntry[T any] struct {
	Key   Word
	Value T
}

// Read reads it.
func (x *Keyed[T]) Read(d *Decoder, n *yaml.Node, f Field) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, KindOf(n)), "keys with a value each")
		return
	}
	seen := map[string]int{} // the line
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode || k.Value == "" || len(k.Value) > maxKey || strings.ContainsFunc(k.Value, unicode.IsControl) {
			d.Add(d.At(k), fmt.Sprintf("a key of %s is %s", f.Key, KindOf(k)), fmt.Sprintf("a short text, at most %d bytes", maxKey))
			continue
		}
		if line := seen[k.Value]; line > 0 {
			d.Add(d.At(k), fmt.Sprintf("key %s stands here again (first in line %d)", Quote(k.Value), line), "each key once")
			continue
		}
		seen[k.Value] = k.Line
		e := KeyedEntry[T]{Key: Word{k.Value, d.At(k)}}
		if IsNull(val) {
			d.Add(d.At(k), fmt.Sprintf("%s has no value", Quote(k.Value)), "one, or no such line")
			continue
		}
		d.Value(val, reflect.ValueOf(&e.Value).Elem(), Field{Key: k.Value})
		*x = append(*x, e)
	}
}
