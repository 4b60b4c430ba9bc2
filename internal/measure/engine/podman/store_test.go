package podman

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host/proc"
)

// TestUnmountBelowALink: what podman mounts below a directory that was named by a link is
// unmounted, though the kernel names it without.
func TestUnmountBelowALink(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounts need root")
	}
	top := t.TempDir()
	real, link := filepath.Join(top, "real"), filepath.Join(top, "link")
	at := filepath.Join(real, "store/overlay")
	require.NoError(t, errors.Join(os.MkdirAll(at, 0o755), os.Symlink("real", link)))
	if err := unix.Mount(at, at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no mount can be made: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	require.NoError(t, (&program{}).unmountBelow(t.Context(), filepath.Join(link, "store")))
	if points, err := proc.Here.MountedBelow(real); err != nil || len(points) > 0 {
		t.Errorf("still mounted: %v, %v", points, err)
	}
}

// TestNamesOutOfReach: a store in a directory that the user may not enter, such as a
// state directory below one of root's, is looked for by its name.
func TestNamesOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	top := t.TempDir()
	require.NoError(t, os.Chmod(top, 0o700))
	dir := filepath.Join(top, "state/runs")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	nobody := &program{as: &engine.User{Name: "nobody", UID: 65534, GID: 65534}}
	names, err := nobody.namesOf([]string{dir})
	require.NoError(t, err)
	if !slices.Equal(names, []string{dir}) {
		t.Errorf("%q", names)
	}
}
