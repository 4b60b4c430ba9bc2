package private

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
)

// TestRemoveFolderStaysOnItsMount: what is mounted in a daemon's folder stays, also where
// no list of mounts tells of it: here the folder is named by a link.
func TestRemoveFolderStaysOnItsMount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	precious := t.TempDir()
	at := filepath.Join(top, "real/private/one/mnt")
	require.NoError(t, errors.Join(os.WriteFile(filepath.Join(precious, "data"), nil, 0o644), os.MkdirAll(at, 0o755),
		os.Symlink("real", filepath.Join(top, "link")), os.WriteFile(filepath.Join(at, "../image"), nil, 0o644)))
	if err := unix.Mount(precious, at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no mount can be made: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	folder := filepath.Join(top, "link/private/one")
	if err := removeFolder(folder); !errors.Is(err, safepath.ErrMounted) {
		t.Errorf("with a mount in it: %v", err)
	}
	if _, err := os.Stat(filepath.Join(precious, "data")); err != nil {
		t.Fatal("what was mounted there was deleted")
	}
	require.NoError(t, unix.Unmount(at, unix.MNT_DETACH))
	for range 2 { // it is safe to call twice
		if err := removeFolder(folder); err != nil {
			t.Error(err)
		}
	}
	if _, err := os.Lstat(filepath.Join(top, "real/private")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}
