//go:build unix

package engine

import (
	"io/fs"
	"syscall"
)

// roots says whether a file belongs to root.
func roots(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0
}
