//go:build unix

package safepath

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Without a writer a pipe would hold whoever opens it for ever.
func TestPipesAreNotWaitedFor(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadRegular(pipe); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe: %v", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := OpenIn(root, "pipe"); !errors.Is(err, ErrNotRegular) {
		t.Errorf("a pipe in its root: %v", err)
	}
}
