package house

import (
	"go/build"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// make unit leaves out the files of tests that are not built with its tag: each of their tests
// is skipped with -short. A package that skips all of its tests would be linked there for nothing.
func TestIdlePackages(t *testing.T) {
	of := noFunctions()
	for _, src := range sources(t) {
		of.add(path.Dir(src.path), src.file)
	}
	tested, partly := 0, 0
	for _, p := range packages(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
		require.NoError(t, err)
		var tests, out []string
		for _, name := range files {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
			require.NoError(t, err)
			added := of.add(folder, file)
			tests = append(tests, added...)
			if notInUnit(t, name) {
				partly++
				out = append(out, added...)
			}
		}
		for _, name := range out {
			if !of.skipped(folder, name) {
				t.Errorf("%s: %s is in a file that make unit leaves out (!unit), and is not skipped with -short", folder, name)
			}
		}
		if len(files) > 0 {
			tested++
		}
		runs := slices.DeleteFunc(tests, func(name string) bool { return of.skipped(folder, name) })
		if len(out) < len(tests) && len(runs) == 0 {
			t.Errorf("%s skips all of its tests with -short: build them without make unit's tag only (//go:build !unit)", folder)
		}
	}
	if tested < 100 || partly == 0 {
		t.Errorf("%d packages have tests, %d files of tests are left out: the test looks in the wrong place", tested, partly)
	}
}

// notInUnit tells whether make unit's tag leaves a file out that is built without it.
func notInUnit(t *testing.T, path string) bool {
	t.Helper()
	plain := build.Default
	unit := plain
	unit.BuildTags = append(slices.Clone(unit.BuildTags), "unit")
	dir, name := filepath.Split(path)
	without, err := plain.MatchFile(dir, name)
	require.NoError(t, err)
	with, err := unit.MatchFile(dir, name)
	require.NoError(t, err)
	return without && !with
}

// The rule itself must be able to fail.
func TestIdleIsSeen(t *testing.T) {
	const head = "package x\nfunc need(t *testing.T) { t.Helper(); if testing.Short() { t.Skip() } }\nfunc judge(t *testing.T) {}\nfunc TestX(t *testing.T) {"
	for body, want := range map[string]bool{
		"need(t); judge(t)":                          true,
		"dir := t.TempDir(); need(t); judge(t)":      true,
		"if testing.Short() { t.Skip() }; t.Error()": true,
		"if os.Getenv(`A`) != `1` { t.Skip() }":      false,
		"for range 3 { t.Run(``, func(t *testing.T) { t.Parallel(); need(t); t.Error() }) }": true,
		"judge(t)":                                            false,
		"judge(t); need(t)":                                   false,
		"t.Error(); need(t)":                                  false,
		"require.NoError(t, x); need(t)":                      false,
		"if x { need(t) }; judge(t)":                          false,
		"if testing.Short() { t.Log() }; judge(t)":            false,
		"if testing.Short() && x { t.Skip() }; judge(t)":      false,
		"t.Run(``, func(t *testing.T) { need(t) }); judge(t)": false,
		"t.Run(``, func(t *testing.T) { judge(t) })":          false,
		"println()": false,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x_test.go", head+body+"}", 0)
		require.NoError(t, err)
		of := noFunctions()
		if tests := of.add("x", file); len(tests) != 1 || of.skipped("x", tests[0]) != want {
			t.Errorf("%q of %q: skipped is not %v", tests, body, want)
		}
	}
}
