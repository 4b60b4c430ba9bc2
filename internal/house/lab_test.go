package house

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// labName is in every path of the lab: /var/lib/plimsoll-lab, /run/plimsoll-lab.
const labName = "plimsoll-lab"

// shipped are the folders that users get besides the program.
var shipped = []string{"ansible", "ci", "examples", "studies"}

// linked returns the packages of the module that the program consists of.
func linked(t *testing.T) map[string]bool {
	t.Helper()
	imports := map[string][]string{}
	for _, p := range packages(t) {
		imports[p.ImportPath] = p.Imports
	}
	found := map[string]bool{}
	var add func(path string)
	add = func(path string) {
		of, ours := imports[path]
		if !ours || found[path] {
			return
		}
		found[path] = true
		for _, i := range of {
			add(i)
		}
	}
	add(module + "cmd/plimsoll")
	return found
}

// labPaths lists the files below the folder that name the lab, without tests. It descends
// into other folders only if deep, since each package's folder is listed itself.
func labPaths(t *testing.T, folder string, deep bool) (found []string, files int) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != folder && (!deep || d.Name() == "testdata"):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files++
		text, err := os.ReadFile(path)
		if bytes.Contains(text, []byte(labName)) {
			found = append(found, path)
		}
		return err
	})
	require.NoError(t, err)
	return found, files
}

// A path of the lab in the program would make it behave here as it does nowhere else.
func TestNoPathOfTheLab(t *testing.T) {
	files := 0
	check := func(folder string, deep bool) {
		found, n := labPaths(t, filepath.Join(root, folder), deep)
		files += n
		for _, f := range found {
			t.Errorf("%s names %s, which only lab/ and tests may: let the environment name the place", f, labName)
		}
	}
	for p := range linked(t) {
		check(filepath.FromSlash(strings.TrimPrefix(p, module)), false)
	}
	for _, f := range shipped {
		check(f, true)
	}
	if files < 1000 {
		t.Fatalf("%d files were read: the test looks in the wrong place", files)
	}
}

// The rule itself must be able to fail.
func TestPathOfTheLabIsSeen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.go": `const s = "/run/plimsoll-lab/x.sock"`, "b.go": "package b", "a_test.go": "// plimsoll-lab"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if found, files := labPaths(t, dir, false); len(found) != 1 || files != 2 {
		t.Errorf("%q of %d files", found, files)
	}
}
