package sweep

import (
	"slices"
	"testing"
)

func TestNumber(t *testing.T) {
	for level, want := range map[string]struct {
		x    float64
		unit string
	}{
		"10": {10, ""}, "0.5": {0.5, ""}, "151.6kB": {151600, "bytes"}, "2MiB": {2 << 20, "bytes"}, "64M": {64 << 20, "bytes"},
		"30s": {30e9, "ns"}, "1m30s": {90e9, "ns"},
	} {
		if x, unit, ok := number(level); !ok || x != want.x || unit != want.unit {
			t.Errorf("%s is %g %s, %v", level, x, unit, ok)
		}
	}
	for _, level := range []string{"", "own", "rnd4k-q1t1", "-1s", "1e3x", "ten"} {
		if x, unit, ok := number(level); ok {
			t.Errorf("%q is %g %s", level, x, unit)
		}
	}
}

func TestOf(t *testing.T) {
	works := []Work{
		{"files", map[string]string{"count": "1000", "files": "own"}},
		{"files", map[string]string{"count": "10", "files": "own"}},
		{"files", map[string]string{"count": "100", "files": "volume"}},
		{"db", map[string]string{"size": "2MB", "threads": "1"}},
		{"db", map[string]string{"size": "500kB", "threads": "1"}},
		{"db", map[string]string{"size": "500kB", "threads": "8"}},
		{"hello", nil},
	}
	list := Of(works, "")
	if got := Parameters(list); !slices.Equal(got, []string{"count", "size", "threads"}) {
		t.Fatalf("%v", got)
	}
	if s := list[0]; s.Title() != "files, files=own" || s.At[0] != (Place{"10", 10, 1}) || s.At[1] != (Place{"1000", 1000, 0}) || len(s.At) != 2 {
		t.Errorf("%+v", s)
	}
	if got := Of(works, "size"); len(got) != 1 || got[0].Fixed != "threads=1" || got[0].Unit != "bytes" || got[0].At[0].Level != "500kB" {
		t.Errorf("%+v", got)
	}
	if got := Of(works, "files"); len(got) != 0 {
		t.Errorf("a word is a number: %+v", got)
	}
}
