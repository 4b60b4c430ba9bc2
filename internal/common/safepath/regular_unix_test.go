//go:build unix

package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
)

// Without a writer a pipe would hold whoever opens it for ever.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := ReadRegular(pipe, 4, "a file"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	if _, err := OpenIn(root, "pipe"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe in its root: %v", err)
	}
}
