package run

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestUsable: what keeps plimsoll clean out of a state directory is one error with the
// directory's owner; a directory of our own, and one that does not exist, are no error.
func TestUsable(t *testing.T) {
	own, theirs := t.TempDir(), t.TempDir()
	for _, dir := range []string{own, filepath.Join(own, "none"), filepath.Join(own, "none", "none")} {
		if err := (State{Dir: dir}).usable(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another user")
	}
	require.NoError(t, os.Chown(theirs, 65534, 65534))
	for _, dir := range []string{theirs, filepath.Join(theirs, "none")} {
		if err := (State{Dir: dir}).usable(); err == nil || strings.Count(err.Error(), "65534") != 1 {
			t.Errorf("%s: %v", dir, err)
		}
	}
}
