package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
