package yamlfile

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v4"
)

// Several is one value or a list of values, each once.
type Several[T comparable] struct {
	List []T
	At   Pos
}

// Read reads it. What a value is, its own type knows.
func (x *Several[T]) Read(d *Decoder, n *yaml.Node, f Field) {
	x.At = d.At(n)
	seen := map[string]bool{}
	for _, c := range d.items(n, f, "at least one value") {
		if seen[c.Value] {
			d.Add(d.At(c), fmt.Sprintf("%s names %s twice", f.Key, Quote(c.Value)), "each once")
			continue
		}
		seen[c.Value] = true
		var one T
		before := d.Count()
		d.Value(c, reflect.ValueOf(&one).Elem(), f)
		if d.Count() == before {
			x.List = append(x.List, one)
		}
	}
}

// items are the nodes of a list, which has one at least, or a value alone.
func (d *Decoder) items(n *yaml.Node, f Field, expected string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	if len(n.Content) == 0 {
		d.Add(d.At(n), f.Key+" is an empty list", expected)
	}
	return n.Content
}
