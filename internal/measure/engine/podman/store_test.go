package podman

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
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

// TestStoreOutOfReach: a store that the user can't come to is root's to remove, and that the
// user can't do it is no failure.
func TestStoreOutOfReach(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	top, open := t.TempDir(), t.TempDir()
	require.Reachable(t, open)
	require.NoError(t, os.Chmod(top, 0o700))
	runtimeDir, fake := filepath.Join(open, "xdg"), filepath.Join(open, "podman")
	require.NoError(t, os.Mkdir(runtimeDir, 0o700))
	require.NoError(t, os.Chown(runtimeDir, 65534, 65534))
	require.NoError(t, os.WriteFile(fake, []byte("#!/bin/sh\nshift\nexec \"$@\"\n"), 0o755)) //nolint:gosec // podman unshare, without its namespace
	nobody := &engine.User{Name: "nobody", UID: 65534, GID: 65534, RuntimeDir: runtimeDir}
	kit := &engine.Kit{RunID: "abcd1234", Dir: filepath.Join(top, "run"), Root: true, Getenv: os.Getenv, Ledger: &kittest.Ledger{}}
	p := &program{path: fake, as: nobody, user: nobody, env: []string{"PATH=" + os.Getenv("PATH")}}
	dir := storeDir(kit, p, overlay)
	p.store = store{driver: overlay, root: filepath.Join(dir, "root"), run: runRoot(kit, p, overlay)}
	for _, d := range []string{kit.Dir, dir, p.store.run} {
		require.NoError(t, os.Mkdir(d, 0o755))
	}
	for _, d := range []string{dir, p.store.run} {
		require.NoError(t, kit.Ledger.Made(p.thing(engine.KindFile, d)))
		require.NoError(t, os.Chown(d, 65534, 65534))
	}
	if err := p.removeStore(t.Context(), kit); err != nil {
		t.Error(err)
	}
	if left := kit.Ledger.Left(); len(left) > 0 {
		t.Errorf("the ledger has %v", left)
	}
	for _, d := range []string{dir, p.store.run} {
		if _, err := os.Lstat(d); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", d, err)
		}
	}
}
