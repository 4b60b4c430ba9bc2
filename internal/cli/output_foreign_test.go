//go:build linux

package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
)

func text(s string) func(io.Writer) error {
	return func(out io.Writer) error { _, err := io.WriteString(out, s); return err }
}

// Root writes no file where somebody else could have led it, and overwrites
// none of somebody else's; the user who called sudo is nobody else.
func TestWriteToInForeignPlaces(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has rights that another could borrow")
	}
	const stranger = 65534
	top := t.TempDir()
	dir, tmp, victim := filepath.Join(top, "theirs"), filepath.Join(top, "tmp"), filepath.Join(top, "victim")
	err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, stranger, stranger), os.Mkdir(tmp, 0), os.Chmod(tmp, 0o777|fs.ModeSticky),
		os.WriteFile(victim, []byte("kept"), 0o600))
	for _, in := range []string{dir, tmp} {
		err = errors.Join(err, os.Symlink(victim, filepath.Join(in, "link")), os.Symlink(victim, filepath.Join(in, "out.new")),
			os.WriteFile(filepath.Join(in, "file"), []byte("theirs"), 0o644), os.Chown(filepath.Join(in, "file"), 4321, 4321))
	}
	require.NoError(t, err)
	root, sudo := terminal(0), terminal(0, "SUDO_UID=65534")
	for _, c := range []struct {
		w    World
		path string
		says string // "" where it is written
	}{
		{root, dir + "/out", "belongs to"},
		{sudo, dir + "/out", ""},
		{sudo, dir + "/link", "symbolic link"},
		{sudo, dir + "/file", "uid 4321"},
		{root, tmp + "/out", ""},
		{root, tmp + "/out", ""}, // again, over our own
		{root, tmp + "/link", "symbolic link"},
		{root, tmp + "/file", "uid 4321"},
		{root, tmp + "/link/below", "victim"},
	} {
		err := writeTo(c.w, c.path, text("new"))
		if c.says == "" {
			if got, read := os.ReadFile(c.path); err != nil || string(got) != "new" {
				t.Errorf("%s: %q, %v, %v", c.path, got, read, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), filepath.Base(filepath.Dir(c.path))) {
			t.Errorf("%s: %v, want %q", c.path, err, c.says)
		}
	}
	for path, want := range map[string]string{victim: "kept", dir + "/file": "theirs", tmp + "/file": "theirs"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s holds %q (%v)", path, got, err)
		}
	}
	for _, in := range []string{dir, tmp} {
		if to, err := os.Readlink(in + "/out.new"); err != nil || to != victim {
			t.Errorf("%s/out.new, which was somebody's, is gone: %v", in, err)
		}
	}
	var unsafe *safepath.UnsafeError
	if err := writeTo(root, dir+"/out", text("")); !errors.As(err, &unsafe) || unsafe.Fix == "" {
		t.Errorf("no advice: %v", err)
	}
}

// The names that the shell has for what is open already are written to, not
// replaced, a file behind them too.
func TestWriteToWhatIsOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	keep, err := syscall.Dup(1)
	if err == nil {
		err = syscall.Dup3(int(f.Fd()), 1, 0)
	}
	require.NoError(t, err)
	err = writeTo(terminal(0), "/proc/self/fd/1", text("table"))
	err = errors.Join(err, syscall.Dup3(keep, 1, 0), syscall.Close(keep))
	if got, read := os.ReadFile(path); err != nil || string(got) != "table" {
		t.Errorf("%q, %v, %v", got, read, err)
	}
}
