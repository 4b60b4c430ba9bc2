package advise

import (
	"slices"
	"testing"
)

func TestTogether(t *testing.T) {
	got := Together([]string{"plimsoll run advise --engine b", "make lab ENGINE=x", "", "plimsoll run advise --engine a", "plimsoll run other --engine a",
		"make lab ENGINE=x", "plimsoll run advise --engine b", "plimsoll run advise", "plimsoll run --engine a advise"})
	want := []string{"plimsoll run advise --engine b,a", "make lab ENGINE=x", "plimsoll run other --engine a", "plimsoll run advise", "plimsoll run --engine a advise"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
