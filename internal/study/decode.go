package study

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// A decoder fills a document from the YAML tree. It goes on after an error, so
// that all independent ones are found at once.
type decoder struct {
	path string
	*problems
	// factors are the further keys of an environment.
	factors []string
}

// A field is what the format says of a value: its name for messages, and its
// limits from the tag jsonschema.
type field struct {
	key      string
	index    int
	required bool
	min, max int64
	minItems int
	enum     []string
	// reference: a word may be a reference to an image too.
	reference bool
}

// A leaf reads itself from a node.
type leaf interface {
	read(d *decoder, n *yaml.Node, f field)
}

// A short is a struct that may also be written as its first field's value.
type short interface {
	place(pos)
}

func (d *decoder) at(n *yaml.Node) pos { return pos{d.path, n.Line, n.Column} }

func (d *decoder) value(n *yaml.Node, v reflect.Value, f field) {
	if l, ok := v.Addr().Interface().(leaf); ok {
		l.read(d, n, f)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if s, ok := v.Addr().Interface().(short); ok {
			s.place(d.at(n))
			if n.Kind == yaml.ScalarNode && !isNull(n) && firstIsEnough(v.Type()) {
				i := firstField(v.Type())
				d.value(n, v.Field(i), fieldOf(v.Type().Field(i)))
				return
			}
		}
		d.mapping(n, v, f)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.add(d.at(n), fmt.Sprintf("%s is %s", f.key, kindOf(n)), "a list, each entry on a line that begins with '-'")
			return
		}
		if len(n.Content) < f.minItems {
			d.add(d.at(n), f.key+" is empty", "at least one entry")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			d.value(c, v.Index(i), field{key: "an entry of " + f.key})
		}
	default:
		panic("study: the format has a field of kind " + v.Kind().String())
	}
}

// mapping fills a struct. Keys that no field has go to the field that takes
// the rest, or are errors.
func (d *decoder) mapping(n *yaml.Node, v reflect.Value, f field) {
	if n.Kind != yaml.MappingNode {
		d.add(d.at(n), fmt.Sprintf("%s is %s", f.key, kindOf(n)), "keys with values, such as "+keysOf(v.Type())[0]+": …")
		return
	}
	fields, rest := fieldsOf(v.Type())
	valid := keysOf(v.Type())
	if rest >= 0 {
		valid = append(valid, d.factors...)
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.add(d.at(k), "a key is "+kindOf(k), "a word")
			continue
		}
		if before, ok := seen[k.Value]; ok {
			d.add(d.at(k), fmt.Sprintf("key %s stands here again (first in line %d)", quote(k.Value), before.Line), "each key once")
			continue
		}
		seen[k.Value] = k
		if i := slices.IndexFunc(fields, func(f field) bool { return f.key == k.Value }); i >= 0 {
			d.key(k, val, v.Field(fields[i].index), fields[i])
		} else if rest >= 0 && slices.Contains(d.factors, k.Value) {
			v.Field(rest).Addr().Interface().(*axes).readAxis(d, k, val)
		} else {
			d.unknown(d.at(k), "key", k.Value, valid)
		}
	}
	for _, fo := range fields {
		if fo.required && seen[fo.key] == nil {
			d.add(d.at(n), fmt.Sprintf("%s has no key %q", f.key, fo.key), fo.key+": …")
		}
	}
}

// key gives one key's value to its field.
func (d *decoder) key(k, val *yaml.Node, v reflect.Value, f field) {
	if isNull(val) {
		d.add(d.at(k), fmt.Sprintf("%s has no value", f.key), "one, or no such line")
		return
	}
	d.value(val, v, f)
}

// fieldsOf gives the fields of a struct that have a key, and the index of the
// one that takes the rest, or -1.
func fieldsOf(t reflect.Type) (fields []field, rest int) {
	rest = -1
	for i := range t.NumField() {
		switch key := t.Field(i).Tag.Get("key"); key {
		case "":
		case ",rest":
			rest = i
		default:
			f := fieldOf(t.Field(i))
			f.index = i
			fields = append(fields, f)
		}
	}
	return fields, rest
}

// fieldOf reads the tags of a field.
func fieldOf(tf reflect.StructField) field {
	f := field{key: tf.Tag.Get("key")}
	for tag := range strings.SplitSeq(tf.Tag.Get("jsonschema"), ",") {
		k, val, _ := strings.Cut(tag, "=")
		n, _ := strconv.ParseInt(val, 10, 64)
		switch k {
		case "required":
			f.required = true
		case "minimum":
			f.min = n
		case "maximum":
			f.max = n
		case "minItems":
			f.minItems = int(n)
		case "enum":
			f.enum = append(f.enum, val)
		}
	}
	return f
}

func keysOf(t reflect.Type) []string {
	fields, _ := fieldsOf(t)
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

func firstField(t reflect.Type) int {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return i
		}
	}
	return -1
}

// firstIsEnough says whether only the first field is required, so that the
// struct may be written short.
func firstIsEnough(t reflect.Type) bool {
	for i := firstField(t) + 1; i < t.NumField(); i++ {
		if fieldOf(t.Field(i)).required {
			return false
		}
	}
	return true
}

// kindOf says what a node is, for people.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			return "an empty group of keys"
		}
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		return "empty"
	}
	return quote(n.Value)
}

func (w *workload) place(at pos)    { w.at = at }
func (e *environment) place(at pos) { e.at = at }
func (e *exclusion) place(at pos)   { e.at = at }
func (e *published) place(at pos)   { e.at = at }
