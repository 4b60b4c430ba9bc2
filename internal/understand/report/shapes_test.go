package report

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/understand/document"
)

// Other programs read the JSON: no key goes away or changes its type unseen. A
// line is an object and its keys: a text, a number #, a truth ?, an estimate ~
// with value, lo and hi, or a list [] of them.
func TestJSONShape(t *testing.T) {
	var b strings.Builder
	for _, k := range kinds(t) {
		if !slices.Contains([]string{"advice", "audit", "changes", "factors", "features", "findings", "history", "overhead", "published tables", "result"}, k.name) {
			continue // the same keys
		}
		var v any
		if err := json.Unmarshal([]byte(k.text(t, "json", Options{})), &v); err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		objects := map[string]map[string]bool{}
		shape(objects, "{}", v)
		fmt.Fprintf(&b, "%s\n", k.name)
		for _, path := range slices.Sorted(maps.Keys(objects)) {
			line := path + ": " + strings.Join(slices.Sorted(maps.Keys(objects[path])), " ")
			fmt.Fprintf(&b, "   %s\n", strings.Join(document.Wrap(line, 100, "   "), "\n   "))
		}
	}
	isGolden(t, "json.txt", b.String())
}

// shape gathers the keys of all objects, by where they are.
func shape(objects map[string]map[string]bool, path string, v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			shape(objects, path, x)
		}
	case map[string]any:
		for k, x := range v {
			if slices.ContainsFunc([]string{"levels", "facts", "configuration", "isolation", "params", "cells", "fixed"}, func(s string) bool { return strings.HasSuffix(path, s+"{}") }) {
				if _, list := x.([]any); !list {
					k = "*" // named by data
				}
			}
			name, leaf := k+typeOf(x), typeOf(x) != "{}" && typeOf(x) != "[]{}"
			if leaf {
				if objects[path] == nil {
					objects[path] = map[string]bool{}
				}
				objects[path][name] = true
				continue
			}
			shape(objects, strings.TrimPrefix(path+"."+name, "{}."), x)
		}
	}
}

// typeOf is how a value's type is written behind its key.
func typeOf(v any) string {
	switch v := v.(type) {
	case float64:
		return "#"
	case bool:
		return "?"
	case nil:
		return " null"
	case []any:
		if len(v) == 0 {
			return "[]"
		}
		return "[]" + typeOf(v[0])
	case map[string]any:
		if _, number := v["value"].(float64); !number {
			return "{}"
		}
		for k := range v {
			if !slices.Contains([]string{"value", "lo", "hi"}, k) {
				return "{}"
			}
		}
		return "~"
	}
	return ""
}
