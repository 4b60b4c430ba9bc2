package workload

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/yamlfile"
)

const maxArgument = 64 << 10

// An argument is text as it is, with references.
type argument struct{ yamlfile.Word }

// Read reads it.
func (x *argument) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	s, ok := d.Scalar(n, f, "text (in quotes where it is empty)")
	switch {
	case !ok:
	case strings.ContainsRune(s, 0):
		d.Bad(n, f, "text without a zero byte")
	case len(s) > maxArgument:
		d.Add(d.At(n), fmt.Sprintf("%s has %d bytes", f.Key, len(s)), fmt.Sprintf("at most %d", maxArgument))
	default:
		x.Text, x.At = s, d.At(n)
	}
}

// imageName is a name or a reference.
type imageName struct{ yamlfile.Word }

// Read reads it.
func (x *imageName) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "an image of the catalogue, or a reference such as docker.io/library/cassandra:5"
	x.Take(d, n, f, expected, yamlfile.IsReference)
}

// A factor is a number above 0.
type factor struct {
	n  float64
	at yamlfile.Pos
}

// Read reads it.
func (x *factor) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	const expected = "a number above 0, such as 1000 or 1e-3"
	s, ok := d.Scalar(n, f, expected)
	if !ok {
		return
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !isNumber(s) || v <= 0 || math.IsInf(v, 0) {
		d.Bad(n, f, expected)
		return
	}
	x.n, x.at = v, d.At(n)
}

// A command is a program and its arguments, of which some are there for some
// levels only. A command without any is not carried out.
type command struct {
	parts []part
	at    yamlfile.Pos
}

type part struct {
	when yamlfile.Settings // nil: always
	args []argument
}

// Read reads it.
func (c *command) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	c.at = d.At(n)
	if n.Kind == yaml.MappingNode {
		c.conditional(d, n)
		return
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, yamlfile.KindOf(n)), "a list of a program and its arguments, such as [echo, hello]")
		return
	}
	for _, n := range n.Content {
		switch n.Kind {
		case yaml.MappingNode:
			c.conditional(d, n)
		case yaml.SequenceNode:
			d.Add(d.At(n), "an argument is a list", "text, or {when: {parameter: level}, args: […]}")
		default:
			var a argument
			a.Read(d, n, yamlfile.Field{Key: "an argument"})
			c.parts = append(c.parts, part{args: []argument{a}})
		}
	}
}

func (c *command) conditional(d *yamlfile.Decoder, n *yaml.Node) {
	var x conditional
	d.Value(n, reflect.ValueOf(&x).Elem(), yamlfile.Field{Key: "a conditional part"})
	c.parts = append(c.parts, part{when: x.When, args: x.Args})
}

// parameters and roles are structs by name, in the order of the file.
type (
	parameters []parameter
	roles      []role
)

// Read reads it.
func (x *parameters) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	eachNamed(d, n, f, "parameter", func(name yamlfile.Word, value *yaml.Node) {
		p := parameter{name: name}
		d.Value(value, reflect.ValueOf(&p).Elem(), yamlfile.Field{Key: "parameter " + name.Text})
		*x = append(*x, p)
	})
}

// Read reads it.
func (x *roles) Read(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field) {
	eachNamed(d, n, f, "role", func(name yamlfile.Word, value *yaml.Node) {
		r := role{name: name}
		d.Value(value, reflect.ValueOf(&r).Elem(), yamlfile.Field{Key: "role " + name.Text})
		*x = append(*x, r)
	})
}

func eachNamed(d *yamlfile.Decoder, n *yaml.Node, f yamlfile.Field, kind string, read func(yamlfile.Word, *yaml.Node)) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, yamlfile.KindOf(n)), "the name of each "+kind+", with its keys below")
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		var name yamlfile.Name
		name.Read(d, k, yamlfile.Field{Key: "the name of a " + kind})
		switch before, again := seen[k.Value]; {
		case !name.At.Given():
		case again:
			d.Add(d.At(k), fmt.Sprintf("%s %s stands here again (first in line %d)", kind, yamlfile.Quote(k.Value), before), "each once")
		case yamlfile.IsNull(v):
			d.Add(d.At(k), fmt.Sprintf("%s %s has no keys", kind, k.Value), "its keys")
		default:
			seen[k.Value] = k.Line
			read(name.Word, v)
		}
	}
}
