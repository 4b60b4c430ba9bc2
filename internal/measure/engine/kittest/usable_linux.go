package kittest

import (
	"os"
	"syscall"
)

// usableBy says whether a directory exists and belongs to a user.
func usableBy(dir string, uid int) bool {
	if dir == "" {
		return false
	}
	fi, err := os.Stat(dir)
	if err != nil || !fi.IsDir() {
		return false
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid
}
