// Package golden holds what tests make against files that were looked at once.
// It is for tests alone.
//
// It is opinionated: -update rewrites the files of a package, and what changed
// is then read in the difference to the commit before, not in a test's output.
package golden

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Check fails the test where got is not what the file holds, and says where the
// two part. With -update it writes the file instead.
func Check(t testing.TB, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.Errorf("%s is not there: go test with -update writes it", path)
	case err != nil:
		t.Error(err)
	case got != string(want):
		t.Errorf("%s differs %s\ngo test with -update rewrites it, to be looked at in git diff", path, Difference(got, string(want)))
	}
}

// Difference says in which line two texts part, and what either has there; ""
// where they are the same.
func Difference(got, want string) string {
	if got == want {
		return ""
	}
	g, w := strings.SplitAfter(got, "\n"), strings.SplitAfter(want, "\n")
	i := 0
	for i < min(len(g), len(w)) && g[i] == w[i] {
		i++
	}
	at := func(lines []string) string {
		if i >= len(lines) {
			return "(nothing more)"
		}
		return strings.TrimSuffix(lines[i], "\n")
	}
	return fmt.Sprintf("from line %d on:\ngot  %s\nwant %s", i+1, at(g), at(w))
}
