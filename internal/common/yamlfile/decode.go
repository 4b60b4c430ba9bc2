package yamlfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"plimsoll/internal/common/lists"
)

// A Decoder fills a document from the YAML tree. It goes on after an error, so
// that all independent ones are found at once.
//
// A document is a struct whose fields have the tag key, the key in the file, and
// may have the tag jsonschema: required, minimum, maximum, minItems and enum are
// applied here as in the JSON Schema that is generated from the same type. The
// key ",rest" marks the field that takes the Rest, and an embedded struct's
// fields are the document's.
type Decoder struct {
	Path string
	*Problems
	// Rest are further keys that a struct with a field of that tag takes.
	Rest []string
	// References is the key of axes whose levels may be references to images.
	References string
	// Joined are the keys of axes whose levels may be several names in one.
	Joined []string
	// Sizes is the key of axes whose levels are sizes with their units.
	Sizes string
}

// A Field is what the format says of a value: its name for messages, and its
// limits from the tag jsonschema.
type Field struct {
	Key      string
	Required bool
	Min, Max int64
	MinItems int
	Enum     []string

	index []int
}

// A leaf reads itself from a node.
type leaf interface {
	Read(d *Decoder, n *yaml.Node, f Field)
}

// A Rest takes a key that has no field of its own.
type Rest interface {
	ReadKey(d *Decoder, key, value *yaml.Node)
}

// A placed wants to know where it stands in the file. Where only its first
// field is required, it may be written short, as that field's value.
type placed interface {
	Place(Pos)
}

// At is the place of a node.
func (d *Decoder) At(n *yaml.Node) Pos { return Pos{d.Path, n.Line, n.Column} }

// Value reads a node into a value of a document.
func (d *Decoder) Value(n *yaml.Node, v reflect.Value, f Field) {
	if l, ok := v.Addr().Interface().(leaf); ok {
		l.Read(d, n, f)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if s, ok := v.Addr().Interface().(placed); ok {
			s.Place(d.At(n))
			if n.Kind == yaml.ScalarNode && !IsNull(n) && firstIsEnough(v.Type()) {
				i := firstField(v.Type())
				d.Value(n, v.Field(i), fieldOf(v.Type().Field(i)))
				return
			}
		}
		d.Mapping(n, v, f)
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, KindOf(n)), "a list, each entry on a line that begins with '-'")
			return
		}
		if len(n.Content) < f.MinItems {
			d.Add(d.At(n), f.Key+" is empty", "at least one entry")
		}
		v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
		for i, c := range n.Content {
			d.Value(c, v.Index(i), Field{Key: "an entry of " + f.Key})
		}
	default:
		panic("yamlfile: the format has a Field of kind " + v.Kind().String())
	}
}

// Mapping fills a struct. Keys that no Field has go to the Field that takes
// the rest, or are errors.
func (d *Decoder) Mapping(n *yaml.Node, v reflect.Value, f Field) {
	if n.Kind != yaml.MappingNode {
		d.Add(d.At(n), fmt.Sprintf("%s is %s", f.Key, KindOf(n)), "keys with values, such as "+keysOf(v.Type())[0]+": …")
		return
	}
	fields, rest := fieldsOf(v.Type())
	valid := keysOf(v.Type())
	if rest != nil {
		valid = append(valid, d.Rest...)
	}
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, val := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.Add(d.At(k), "a key is "+KindOf(k), "a word")
			continue
		}
		if before, ok := seen[k.Value]; ok {
			d.Add(d.At(k), fmt.Sprintf("key %s stands here again (first in line %d)", Quote(k.Value), before.Line), "each key once")
			continue
		}
		seen[k.Value] = k
		if i := slices.IndexFunc(fields, func(f Field) bool { return f.Key == k.Value }); i >= 0 {
			d.key(k, val, v.FieldByIndex(fields[i].index), fields[i])
		} else if rest != nil && slices.Contains(d.Rest, k.Value) {
			v.FieldByIndex(rest).Addr().Interface().(Rest).ReadKey(d, k, val)
		} else {
			d.Unknown(d.At(k), "key", k.Value, valid)
		}
	}
	for _, fo := range fields {
		if fo.Required && seen[fo.Key] == nil {
			d.Add(d.At(n), fmt.Sprintf("%s has no key %q", f.Key, fo.Key), fo.Key+": …")
		}
	}
}

// key gives one key's value to its Field.
func (d *Decoder) key(k, val *yaml.Node, v reflect.Value, f Field) {
	if IsNull(val) {
		d.Add(d.At(k), fmt.Sprintf("%s has no value", f.Key), "one, or no such line")
		return
	}
	d.Value(val, v, f)
}

// fieldsOf gives the fields of a struct that have a key, with those of embedded
// structs, and the index of the one that takes the rest, or nil.
func fieldsOf(t reflect.Type) (fields []Field, rest []int) {
	if known, ok := forms.Load(t); ok {
		f := known.(form)
		return f.fields, f.rest
	}
	fields, rest = readFields(t)
	forms.Store(t, form{fields, rest})
	return fields, rest
}

// forms are what fieldsOf gave, by type: a file has the same struct a hundred times.
var forms sync.Map

type form struct {
	fields []Field
	rest   []int
}

func readFields(t reflect.Type) (fields []Field, rest []int) {
	for _, tf := range reflect.VisibleFields(t) {
		switch key := tf.Tag.Get("key"); key {
		case "":
		case ",rest":
			rest = tf.Index
		default:
			f := fieldOf(tf)
			f.index = tf.Index
			fields = append(fields, f)
		}
	}
	return fields, rest
}

// fieldOf reads the tags of a Field.
func fieldOf(tf reflect.StructField) Field {
	f := Field{Key: tf.Tag.Get("key")}
	for tag := range strings.SplitSeq(tf.Tag.Get("jsonschema"), ",") {
		k, val, _ := strings.Cut(tag, "=")
		n, _ := strconv.ParseInt(val, 10, 64)
		switch k {
		case "required":
			f.Required = true
		case "minimum":
			f.Min = n
		case "maximum":
			f.Max = n
		case "minItems":
			f.MinItems = int(n)
		case "enum":
			f.Enum = append(f.Enum, val)
		}
	}
	return f
}

func keysOf(t reflect.Type) []string {
	fields, _ := fieldsOf(t)
	return lists.Map(fields, func(f Field) string { return f.Key })
}

func firstField(t reflect.Type) int {
	for i := range t.NumField() {
		if t.Field(i).IsExported() {
			return i
		}
	}
	return -1
}

// firstIsEnough says whether only the first Field is required, so that the
// struct may be written short.
func firstIsEnough(t reflect.Type) bool {
	for i := firstField(t) + 1; i < t.NumField(); i++ {
		if fieldOf(t.Field(i)).Required {
			return false
		}
	}
	return true
}

// KindOf says what a node is, for people.
func KindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		if len(n.Content) == 0 {
			return "an empty group of keys"
		}
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	}
	if IsNull(n) {
		return "empty"
	}
	return Quote(n.Value)
}
