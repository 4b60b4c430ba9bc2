package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/host/proc"
)

// What is mounted in a root is seen by the processes of the run only, and what can be
// removed there is the run's own. (Once the machine's own /dev was in it, and somebody
// removed a killed run's directory by hand.)
func TestRootLeadsNowhere(t *testing.T) {
	kit := kittest.Bare(t)
	if !kit.Root {
		t.Skip("native needs root")
	}
	image := filepath.Join(kit.Dir, "image")
	for _, d := range []string{"proc", "sys", "dev", "work"} {
		require.NoError(t, os.MkdirAll(filepath.Join(image, d), 0o755))
	}
	loops := []string{filepath.Join(kit.Dir, "loop"), filepath.Join(t.TempDir(), "plimsoll-fs-x")} // another environment's, another run's
	for _, loop := range loops {
		require.NoError(t, errors.Join(os.Mkdir(loop, 0o755), unix.Mount("tmpfs", loop, "tmpfs", 0, "size=4k")))
	}
	roots, err := newRoots(kit, image)
	for _, loop := range loops {
		if uerr := unix.Unmount(loop, 0); uerr != nil {
			t.Errorf("unmounting %s: %v", loop, uerr)
		}
	}
	require.NoError(t, err)
	require.NoError(t, roots.thread.Do(func() error {
		mounts, err := proc.Here.Mounts(proc.Thread)
		for _, loop := range loops {
			if pinned := proc.Below(mounts, loop); len(pinned) > 0 {
				t.Errorf("the namespace keeps %q", pinned)
			}
		}
		return err
	}))
	defer func() {
		for range 2 {
			if err := roots.close(); err != nil {
				t.Error(err)
			}
		}
		if left, err := filepath.Glob(filepath.Join(kit.Dir, "native-*")); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	}()
	r, err := roots.take([]engine.Mount{{Kind: engine.Tmpfs, Target: "/work"}})
	require.NoError(t, err)
	if points, err := proc.Here.MountedBelow(kit.Dir); err != nil || len(points) > 0 {
		t.Errorf("mounted in the host's namespace: %v, %v", points, err)
	}
	require.NoError(t, roots.thread.Do(func() error {
		for _, name := range []string{"null", "zero", "urandom", "tty"} {
			fi, err := os.Lstat(filepath.Join(r.path, "dev", name))
			if err != nil || fi.Mode()&os.ModeCharDevice == 0 || fi.Mode().Perm() != 0o666 {
				t.Errorf("/dev/%s: %v, %v", name, fi, err)
			}
		}
		judgeMounts(t, r, 7)
		return nil
	}))
	require.NoError(t, roots.give(r))
	require.NoError(t, roots.thread.Do(func() error {
		judgeMounts(t, r, 6)
		return nil
	}))
}

// judgeMounts looks at the root's mounts from its own thread.
func judgeMounts(t *testing.T, r *root, want int) {
	t.Helper()
	mounts, err := proc.Here.Mounts(proc.Thread)
	require.NoError(t, err)
	seen := 0
	for _, m := range mounts {
		if !proc.Under(m.Mountpoint, r.path) {
			continue
		}
		seen++
		at := strings.TrimPrefix(m.Mountpoint, r.path)
		switch options := "," + m.Options + ","; {
		case strings.Contains(options, ",ro,"):
		case m.FSType == "proc": // nothing in it can be removed
		case m.FSType == "tmpfs" && m.Root == "/" && alone(mounts, m.Major, m.Minor):
		case strings.Contains(m.Root, "/"+filepath.Base(filepath.Dir(r.path))+"/"):
		default:
			t.Errorf("%s is writable, and is the machine's %s of %s", at, m.Root, m.FSType)
		}
	}
	if seen != want {
		t.Errorf("%d mounts in native's root, want %d", seen, want)
	}
}

// alone says whether a file system is mounted nowhere else.
func alone(mounts []*proc.Mount, major, minor int) bool {
	n := 0
	for _, m := range mounts {
		if m.Major == major && m.Minor == minor {
			n++
		}
	}
	return n == 1
}
