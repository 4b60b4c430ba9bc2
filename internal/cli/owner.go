//go:build linux

package cli

import (
	"os"
	"syscall"
)

// ownedBy says whether a directory is there and belongs to this user.
func ownedBy(dir string, uid int) bool {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}
