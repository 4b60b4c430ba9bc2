//go:build unix

package safepath

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// TestReadGiven: a file that a user names is a regular one or a pipe, with a limit.
func TestReadGiven(t *testing.T) {
	dir := t.TempDir()
	pipe, long, sparse, none := filepath.Join(dir, "pipe"), filepath.Join(dir, "long"), filepath.Join(dir, "sparse"), filepath.Join(dir, "none")
	require.NoError(t, errors.Join(syscall.Mkfifo(pipe, 0o600), os.WriteFile(long, []byte("12345"), 0o600), os.WriteFile(sparse, nil, 0o600), os.Truncate(sparse, 10<<30)))
	for path, want := range map[string]string{
		pipe:        "a pipe from which nothing came: expected four bytes",
		long:        "more than 4 bytes: expected four bytes",
		sparse:      "more than 4 bytes: expected four bytes",
		dir:         ErrNotRegular.Error(),
		"/dev/zero": ErrNotRegular.Error(),
		none:        "no such file",
	} {
		if _, err := ReadGiven(path, 4, "four bytes"); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for text, fits := range map[string]bool{"1234": true, "12345": false} {
		r, w, err := os.Pipe()
		require.NoError(t, err)
		_, err = w.WriteString(text)
		require.NoError(t, errors.Join(err, w.Close()))
		got, err := ReadGiven(fmt.Sprintf("/dev/fd/%d", r.Fd()), 4, "four bytes")
		if (err == nil) != fits || fits && string(got) != text {
			t.Errorf("%q through a pipe: %q, %v", text, got, err)
		}
		r.Close()
	}
}
