package dataimage

import "testing"

func TestParse(t *testing.T) {
	for name, want := range map[string]struct {
		of   Image
		x    float64
		unit string
	}{
		"plimsoll/files-1000:busybox":   {Image{Files, "1000", "busybox"}, 1000, ""},
		"plimsoll/archive-10:debian":    {Image{Archive, "10", "debian"}, 10, ""},
		"plimsoll/database-lg:toolbox":  {Image{Database, "lg", "toolbox"}, 11.9e6, "bytes"},
		"plimsoll/database-all:toolbox": {Image{Database, "all", "toolbox"}, 0, ""},
		"plimsoll/words-10:toolbox":     {Image{"words", "10", "toolbox"}, 0, ""},
		"plimsoll/files--1:busybox":     {Image{Files, "-1", "busybox"}, 0, ""},
	} {
		got, ok := Parse(name)
		x, unit, number := got.Number()
		if !ok || got != want.of || number != (want.x > 0) || number && (x != want.x || unit != want.unit) {
			t.Errorf("%s: %+v %v, %g %s %v", name, got, ok, x, unit, number)
		}
	}
	for _, name := range []string{"busybox", "alpine:3", "plimsoll/files:busybox", "plimsoll/files-10"} {
		if got, ok := Parse(name); ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
