package adapter

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
)

// A null device that a runtime has given away is given back to root from the ledger, after
// a kill too; what somebody has put in its place is left as it is.
func TestOwner(t *testing.T) {
	kit := kittest.Bare(t)
	path := filepath.Join(kit.Dir, "null")
	note := func() (engine.Thing, func() error) {
		t.Helper()
		back, err := noteOwner(kit, path)
		require.NoError(t, err)
		left := kit.Ledger.Left()
		if len(left) != 1 {
			return engine.Thing{}, back
		}
		return left[0], back
	}
	if entry, back := note(); entry.Kind != "" || back() != nil {
		t.Errorf("what is not there is noted: %v", entry)
	}
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("making a device: %v", err)
	}
	require.NoError(t, os.Lchown(path, 0, 5))
	if entry, back := note(); entry.Was != "0:5" || back() != nil || len(kit.Ledger.Left()) > 0 {
		t.Errorf("noted as %v; left in the ledger: %v", entry, kit.Ledger.Left())
	}
	entry, back := note()
	require.NoError(t, os.Lchown(path, 65534, 65534))
	if again, err := noteOwner(kit, path); err != nil || again() != nil || len(kit.Ledger.Left()) != 1 {
		t.Error("it is another's, whose run gives it back, and is noted")
	}
	judge := func(what string, e engine.Thing, did bool, want string) {
		t.Helper()
		got, err := PutBackOwner(e)
		var st unix.Stat_t
		require.NoError(t, unix.Lstat(path, &st))
		if err != nil || got != did || idsOf(st) != want {
			t.Errorf("%s: put back: %v, %v; it belongs to %s, want %s", what, got, err, idsOf(st), want)
		}
	}
	boot := entry
	boot.At = strings.Replace(boot.At, "boot ", "boot 0", 1)
	judge("another boot", boot, false, "65534:65534")
	judge("as a run left it", entry, true, "0:5")
	require.NoError(t, os.Lchown(path, 0, 6))
	judge("root has given it another group", entry, false, "0:6")
	require.NoError(t, os.Rename(path, path+"-old"))
	require.NoError(t, unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	require.NoError(t, os.Lchown(path, 1234, 1234))
	judge("another device", entry, false, "1234:1234")
	require.NoError(t, os.Remove(path))
	require.NoError(t, back())
}
