package golden

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// Shape fails the test where the JSON of a type lacks a field that the file lists, or has
// one of another type: programs of others read it. A further field fails too, until -update
// adds it. -update takes no field away: to do so, raise the version of the schema and
// delete the field's line, or the file.
func Shape(t testing.TB, path string, of reflect.Type) {
	t.Helper()
	is := Fields(of)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
		return
	}
	was := map[string]string{}
	for line := range strings.Lines(string(old)) {
		field, kind, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok {
			t.Errorf("%s: %q is not a field and its type", path, line)
			return
		}
		was[field] = kind
	}
	further := false
	for _, field := range slices.Sorted(maps.Keys(was)) {
		switch kind, ok := is[field]; {
		case !ok:
			t.Errorf("%s: the field %s (%s) is gone", path, field, was[field])
		case kind != was[field]:
			t.Errorf("%s: the field %s was %s and is %s", path, field, was[field], kind)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(is)) {
		if _, ok := was[field]; !ok {
			further = true
			if !*update {
				t.Errorf("%s: the field %s (%s) is new: go test with -update adds it", path, field, is[field])
			}
		}
	}
	if !further || !*update || t.Failed() {
		return
	}
	var b strings.Builder
	for _, field := range slices.Sorted(maps.Keys(is)) {
		fmt.Fprintf(&b, "%s  %s\n", field, is[field])
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
}

// Fields lists the fields that encoding/json writes of a type, each by its path from the
// top, with its type: text, whole, number, truth, time, object or any; behind it [] for
// a list, {} for an object whose keys are data, and "or nothing" for what may be missing.
// A type inside itself is "as" the path at which it began.
func Fields(of reflect.Type) map[string]string {
	f := fields{out: map[string]string{}, above: map[reflect.Type]string{}}
	f.value("", of, "")
	return f.out
}

type fields struct {
	out   map[string]string
	above map[reflect.Type]string
}

var (
	timeType    = reflect.TypeFor[time.Time]()
	rawType     = reflect.TypeFor[json.RawMessage]()
	itselfJSON  = reflect.TypeFor[json.Marshaler]()
	itselfAsTxt = reflect.TypeFor[encoding.TextMarshaler]()
)

// value lists what stands at a path.
func (f *fields) value(path string, t reflect.Type, missing string) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	at := func(kind string) { f.out["."+strings.TrimPrefix(path, ".")] = kind + missing }
	switch {
	case t == timeType:
		at("time")
		return
	case t == rawType:
		at("any")
		return
	case t.Implements(itselfJSON) || reflect.PointerTo(t).Implements(itselfJSON):
		at("by its own MarshalJSON")
		return
	case t.Implements(itselfAsTxt) || reflect.PointerTo(t).Implements(itselfAsTxt):
		at("text")
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if began, ok := f.above[t]; ok {
			at("as ." + strings.TrimPrefix(began, "."))
			return
		}
		at("object")
		f.above[t] = path
		f.object(path, t)
		delete(f.above, t)
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
			at("base64")
			return
		}
		f.value(path+"[]", t.Elem(), missing)
	case reflect.Map:
		f.value(path+"{}", t.Elem(), missing)
	case reflect.String:
		at("text")
	case reflect.Bool:
		at("truth")
	case reflect.Float32, reflect.Float64:
		at("number")
	case reflect.Interface:
		at("any")
	default:
		at("whole")
	}
}

// object lists the fields of a struct, those of embedded ones as its own.
func (f *fields) object(path string, t reflect.Type) {
	for _, x := range reflect.VisibleFields(t) {
		tag, given := x.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		if tag == "-" || len(x.Index) > 1 && !promoted(t, x) || x.Anonymous && name == "" || !x.IsExported() {
			continue
		}
		if !given || name == "" {
			name = x.Name
		}
		missing := ""
		if strings.Contains(options, "omit") {
			missing = " or nothing"
		}
		f.value(path+"."+name, x.Type, missing)
	}
}

// promoted says whether a field of an embedded struct is written as a field of t: none of
// the structs on the way has a name of its own.
func promoted(t reflect.Type, x reflect.StructField) bool {
	for i := range len(x.Index) - 1 {
		on := t.FieldByIndex(x.Index[:i+1])
		if name, _, _ := strings.Cut(on.Tag.Get("json"), ","); name != "" {
			return false
		}
	}
	return true
}
