package require

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Reachable lets other users come to a directory of the test's own (t.TempDir, or
// below one) and read it. It opens what lies below the directory in which tests make
// theirs and nothing else: where TMPDIR was set anew meanwhile, or is spelt otherwise,
// a loop up to it would go on through /tmp and take that from everybody.
func Reachable(t testing.TB, dir string) {
	t.Helper()
	tmp := filepath.Clean(cmp.Or(os.Getenv("GOTMPDIR"), os.TempDir())) // as t.TempDir has it
	if rel, err := filepath.Rel(tmp, dir); err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		t.Fatalf("%s is not below the directory for temporary files, %s", dir, tmp)
	}
	for d := filepath.Clean(dir); d != tmp; d = filepath.Dir(d) {
		NoError(t, os.Chmod(d, 0o755))
	}
}
