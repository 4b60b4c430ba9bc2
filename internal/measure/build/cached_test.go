package build

import (
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestForget looks at what the kernel keeps of a file that was just written.
func TestForget(t *testing.T) {
	path := filepath.Join(onDisk(t), "program")
	program, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, program, 0o755))
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	if n := resident(t, f); n == 0 {
		t.Skip("the kernel keeps nothing of a file that was just written")
	}
	forget(f)
	if n := resident(t, f); n != 0 {
		t.Errorf("%d pages are still in memory", n)
	}
	if _, err := Look(Asked{Path: path}); err != nil {
		t.Error(err)
	}
	if n := resident(t, f); n != 1<<20/os.Getpagesize() {
		t.Errorf("%d pages are in memory after a look, expected all", n)
	}
}

// onDisk is a directory of the test's own whose files do not live in memory alone.
func onDisk(t *testing.T) string {
	t.Helper()
	for _, top := range []string{os.TempDir(), "/var/tmp"} {
		var fs unix.Statfs_t
		if err := unix.Statfs(top, &fs); err != nil || fs.Type == unix.TMPFS_MAGIC {
			continue
		}
		dir, err := os.MkdirTemp(top, "plimsoll-test-")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		return dir
	}
	t.Skipf("files of %s live in memory alone, and so do those of /var/tmp", os.TempDir())
	return ""
}

// resident counts the pages of a file of 1 MiB that are in memory.
func resident(t *testing.T, f *os.File) (n int) {
	t.Helper()
	data, err := unix.Mmap(int(f.Fd()), 0, 1<<20, unix.PROT_READ, unix.MAP_SHARED)
	require.NoError(t, err)
	defer func() { _ = unix.Munmap(data) }()
	pages := make([]byte, 1<<20/os.Getpagesize())
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&data[0])), uintptr(len(data)), uintptr(unsafe.Pointer(&pages[0])))
	if failed != 0 {
		t.Skipf("what is in memory can't be asked: %v", failed)
	}
	for _, p := range pages {
		n += int(p & 1)
	}
	return n
}
