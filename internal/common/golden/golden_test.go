package golden

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// saying is a test that keeps what it would fail with.
type saying struct {
	testing.TB
	said string
}

func (s *saying) Helper() {}

func (s *saying) Error(a ...any) { s.said += fmt.Sprint(a...) }

func (s *saying) Errorf(format string, a ...any) { s.said += fmt.Sprintf(format, a...) }

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	said := func(got string) string {
		s := &saying{TB: t}
		Check(s, path, got)
		return s.said
	}
	if got := said("one\n"); !strings.Contains(got, "is not there") {
		t.Errorf("without a file: %q", got)
	}
	*update = true
	wrote := said("one\ntwo\nthree\n")
	*update = false
	if data, err := os.ReadFile(path); wrote != "" || err != nil || string(data) != "one\ntwo\nthree\n" {
		t.Errorf("%q, %v, said %q", data, err, wrote)
	}
	for got, want := range map[string]string{
		"one\ntwo\nthree\n":   "",
		"one\n2\nthree\n":     "from line 2 on:\ngot  2\nwant two\ngo test with -update",
		"one\ntwo\n":          "line 3 on",
		"one\ntwo\nthree":     "line 3 on",
		"one\ntwo\nthree\n\n": "line 4 on",
	} {
		if s := said(got); (s == "") != (want == "") || !strings.Contains(s, want) {
			t.Errorf("%q: said %q, want %q", got, s, want)
		}
	}
	if s := said("one\ntwo\nthree\nfour\n"); !strings.Contains(s, "got  four\nwant ") {
		t.Errorf("a line more: %q", s)
	}
}

type inner struct {
	N    int        `json:"n"`
	More []*inner   `json:"more,omitempty"`
	At   *time.Time `json:"at"`
	hid  int
}

type outer struct {
	inner
	Named inner `json:"named"`
	Plain string
	By    map[string][]float64 `json:"by,omitzero"`
	Gone  bool                 `json:"-"`
	Any   any                  `json:"any"`
	Bytes []byte               `json:"bytes"`
}

func TestFields(t *testing.T) {
	want := map[string]string{
		".": "object", ".n": "whole", ".more[]": "object or nothing", ".more[].n": "whole", ".more[].more[]": "as .more[] or nothing", ".more[].at": "time",
		".at": "time", ".named": "object", ".named.n": "whole", ".named.more[]": "as .named or nothing", ".named.at": "time",
		".Plain": "text", ".by{}[]": "number or nothing", ".any": "any", ".bytes": "base64",
	}
	if got := Fields(reflect.TypeFor[*outer]()); !maps.Equal(got, want) {
		t.Errorf("%v", got)
	}
	data, err := json.Marshal(outer{inner: inner{N: 1, hid: 2}})
	if err != nil || !strings.Contains(string(data), `"n":1`) {
		t.Errorf("%s %v", data, err)
	}
}

func TestShape(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sub", "file")
	said := func(of reflect.Type, updating bool) string {
		s := &saying{TB: t}
		*update = updating
		Shape(s, path, of)
		*update = false
		return s.said
	}
	type first struct{ A, B string }
	type more struct{ A, B, C string }
	type retyped struct {
		A string
		B int
		C string
	}
	for i, c := range []struct {
		of       reflect.Type
		updating bool
		want     string
	}{
		{reflect.TypeFor[first](), false, ".A (text) is new: go test with -update adds it"},
		{reflect.TypeFor[first](), true, ""},
		{reflect.TypeFor[first](), false, ""},
		{reflect.TypeFor[more](), false, ".C (text) is new"},
		{reflect.TypeFor[more](), true, ""},
		{reflect.TypeFor[first](), false, ".C (text) is gone"},
		{reflect.TypeFor[first](), true, ".C (text) is gone"},
		{reflect.TypeFor[retyped](), true, ".B was text and is whole"},
		{reflect.TypeFor[more](), false, ""},
	} {
		if got := said(c.of, c.updating); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%d: said %q, want %q", i, got, c.want)
		}
	}
}
