package trace

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// TestKept: a file is read once, and again where another one lies there, or it was written
// to in place.
func TestKept(t *testing.T) {
	path, k := filepath.Join(t.TempDir(), "program"), kept{}
	self, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, os.Symlink(self, path))
	first := k.open(path)
	if first.table == nil || k.open(path) != first {
		t.Error("it was read twice, or not at all")
	}
	require.NoError(t, os.Remove(path))
	if k.open(path) == first {
		t.Error("what is no longer there is still taken for what it was")
	}
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700))
	second := k.open(path)
	if second.table != nil || k.open(path) != second {
		t.Error("another file is taken for the first, or was read twice")
	}
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/bash\n"), 0o700))
	if k.open(path) == second {
		t.Error("it was written to, and is not read again")
	}
}
