package house

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
)

// throughMounts are what removes a tree with all that is mounted in it.
var throughMounts = map[string][]string{"os": {"RemoveAll"}}

// Whoever measures mounts, and users mount as well: a tree is removed on its own mount
// only.
func TestNothingIsRemovedThroughMounts(t *testing.T) {
	files := 0
	for _, src := range sources(t) {
		measures := slices.ContainsFunc([]string{"internal/measure", "internal/cli", "tools"}, func(folder string) bool {
			_, is := src.below(folder)
			return is
		})
		if !measures || importsTesting(src.file) {
			continue
		}
		files++
		for _, f := range uses(src.fset, src.file, throughMounts) {
			t.Errorf("%s: remove it by safepath.RemoveAll, which stops at mounts", f)
		}
	}
	if files < 100 {
		t.Fatalf("%d files were read: the test looks in the wrong place", files)
	}
}

// The rule itself must be able to fail.
func TestRemovalIsSeen(t *testing.T) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "x.go", `package x
import system "os"
func f() { system.RemoveAll("a"); system.Remove("b") }`, 0)
	require.NoError(t, err)
	if got := uses(fset, file, throughMounts); len(got) != 1 {
		t.Errorf("%q", got)
	}
}
