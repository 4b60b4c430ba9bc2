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
	nodes := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		nodes = n.Content
		if len(nodes) == 0 {
			d.Add(d.At(n), f.Key+" is an empty list", "at least one value")
		}
	}
	seen := map[string]bool{}
	for _, c := range nodes {
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
