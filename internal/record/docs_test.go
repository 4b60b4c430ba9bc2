package record

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestDocsNameEveryField: docs/records.md mentions every field that can be
// written, every event and every class.
func TestDocsNameEveryField(t *testing.T) {
	data, err := os.ReadFile("../../docs/records.md")
	require.NoError(t, err)
	text := string(data)
	section := func(from, to string) string {
		i := strings.Index(text, from)
		if i < 0 {
			t.Fatalf("docs/records.md has no %q", from)
		}
		rest := text[i:]
		if j := strings.Index(rest, to); to != "" && j >= 0 {
			rest = rest[:j]
		}
		return rest
	}
	for _, c := range []struct {
		of   any
		text string
	}{
		{Run{}, section("## run.json", "## trials.jsonl")},
		{Trial{}, section("## trials.jsonl", "## inside.jsonl")},
		{Inside{}, section("## inside.jsonl", "")},
	} {
		n := fields(reflect.TypeOf(c.of), map[reflect.Type]bool{}, func(path, name string) {
			if !strings.Contains(c.text, "`"+name+"`") {
				t.Errorf("docs/records.md does not mention %s", path)
			}
		})
		if n < 10 {
			t.Errorf("%T: only %d fields were looked at", c.of, n)
		}
	}
	for _, e := range Events {
		if !strings.Contains(text, "`"+string(e)+"`") {
			t.Errorf("event %s is not mentioned", e)
		}
	}
	for _, c := range Classes {
		if !strings.Contains(text, "| `"+string(c)+"` |") {
			t.Errorf("class %s is not mentioned", c)
		}
	}
	for _, f := range []string{RunFile, TrialsFile, InsideFile, OutputDir + "/", SamplesDir + "/", lockFile} {
		if !strings.Contains(text, "| `"+f+"` |") {
			t.Errorf("file %s is not mentioned", f)
		}
	}
}

// fields walks the JSON fields of a type and the types that it holds.
func fields(t reflect.Type, seen map[reflect.Type]bool, visit func(path, name string)) int {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || seen[t] || t.PkgPath() != reflect.TypeFor[Run]().PkgPath() {
		return 0
	}
	seen[t] = true
	n := 0
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			visit(t.Name()+"."+f.Name+" (it has no JSON name)", "?")
			continue
		}
		visit(t.Name()+"."+name, name)
		n += 1 + fields(f.Type, seen, visit)
	}
	return n
}
