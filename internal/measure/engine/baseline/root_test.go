package baseline

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/host/proc"
)

// What a killed run leaves mounted lies in a directory that somebody may remove by
// hand, and rm -rf goes through mounts: whatever can be removed there must be the
// run's own. (With the machine's own /dev in it, the machine's devices were gone.)
func TestRootLeadsNowhere(t *testing.T) {
	kit := kittest.Bare(t)
	if !kit.Root {
		t.Skip("native needs root")
	}
	image := filepath.Join(kit.Dir, "image")
	for _, d := range []string{"proc", "sys", "dev", "work"} {
		require.NoError(t, os.MkdirAll(filepath.Join(image, d), 0o755))
	}
	r, err := newRoot(kit, image)
	require.NoError(t, err)
	defer func() {
		if err := r.remove(); err != nil {
			t.Error(err)
		}
	}()
	for _, name := range []string{"null", "zero", "urandom", "tty"} {
		fi, err := os.Lstat(filepath.Join(r.path, "dev", name))
		if err != nil || fi.Mode()&os.ModeCharDevice == 0 || fi.Mode().Perm() != 0o666 {
			t.Errorf("/dev/%s: %v, %v", name, fi, err)
		}
	}
	mounts, err := proc.Here.Mounts(proc.Self)
	require.NoError(t, err)
	seen := 0
	for _, m := range mounts {
		if m.Mountpoint != r.path && !strings.HasPrefix(m.Mountpoint, r.path+"/") {
			continue
		}
		seen++
		at := strings.TrimPrefix(m.Mountpoint, r.path)
		switch options := "," + m.Options + ","; {
		case strings.Contains(options, ",ro,"):
		case m.FSType == "proc": // nothing in it can be removed
		case m.FSType == "tmpfs" && m.Root == "/" && alone(mounts, m.Major, m.Minor):
		case strings.Contains(m.Root, "/"+filepath.Base(kit.Dir)+"/"):
		default:
			t.Errorf("%s is writable, and is the machine's %s of %s", at, m.Root, m.FSType)
		}
	}
	if seen != 6 {
		t.Errorf("%d mounts in native's root, want 6", seen)
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
