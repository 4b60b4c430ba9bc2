//go:build unix

package safepath

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OwnedBy says whether a file or directory belongs to a user.
func OwnedBy(info fs.FileInfo, uid int) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}

// Alone says why somebody else may have a hand in a file or directory: it is another
// user's, others may write to it, or a file has a second name elsewhere. nil is that it is
// ours alone.
func Alone(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	perm := info.Mode().Perm()
	unsafe := &UnsafeError{Path: path, At: path, UID: int(st.Uid)}
	switch {
	case int(st.Uid) != os.Geteuid():
		unsafe.Why = "belongs to " + whose(int(st.Uid))
	case othersWrite(uint32(perm), st.Uid, st.Gid):
		unsafe.Why = fmt.Sprintf("can be written to by others (mode %04o)", perm)
	case !info.IsDir() && st.Nlink > 1:
		unsafe.Why = "has a second name (a hard link) elsewhere"
	default:
		return nil
	}
	return unsafe
}
