//go:build linux

package host

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestNull: a /dev/null that an engine has given away is given back, one that somebody
// has put in its place meanwhile is left as it is.
func TestNull(t *testing.T) {
	dir := t.TempDir()
	m := Machine{Root: dir}
	if n := m.Null(); n != nil || n.PutBack() != nil {
		t.Error("what is not there is noted")
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dev"), 0o755))
	path := filepath.Join(dir, "dev/null")
	if err := unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))); err != nil {
		t.Skipf("making a device: %v", err)
	}
	n := m.Null()
	require.NoError(t, os.Lchown(path, 65534, 65534))
	if m.Null() != nil {
		t.Error("it is another's, whose run gives it back, and is noted")
	}
	require.NoError(t, n.PutBack())
	var st unix.Stat_t
	require.NoError(t, unix.Lstat(path, &st))
	if st.Uid != uint32(os.Geteuid()) {
		t.Errorf("it belongs to %d", st.Uid)
	}
	require.NoError(t, os.Rename(path, path+"-old"))
	require.NoError(t, unix.Mknod(path, unix.S_IFCHR|0o666, int(unix.Mkdev(1, 3))))
	require.NoError(t, os.Lchown(path, 1234, 1234))
	require.NoError(t, n.PutBack())
	require.NoError(t, unix.Lstat(path, &st))
	if st.Uid != 1234 {
		t.Errorf("another's belongs to %d", st.Uid)
	}
}
