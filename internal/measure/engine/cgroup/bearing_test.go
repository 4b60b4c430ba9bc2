package cgroup

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// A hierarchy that has gone since it was listed is nothing to tell of: a systemd-nspawn
// that starts has one for a moment.
func TestBearing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "plimsoll-a1b2"), 0o755))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "plimsoll-c3d4"), 0o755))
	found, err := bearing([]string{filepath.Join(dir, "gone"), dir}, "a1b2")
	if err != nil || len(found) != 1 || found[0].Name != filepath.Join(dir, "plimsoll-a1b2") {
		t.Errorf("%v, %v", found, err)
	}
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	if _, err := bearing([]string{file}, "a1b2"); err == nil {
		t.Error("a place that can't be read is passed over")
	}
}
