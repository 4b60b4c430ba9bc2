//go:build !unit

package vmtest

import (
	"bytes"
	"fmt"
)

// A file of the initramfs.
type file struct {
	name string // relative, without a leading slash
	mode uint32 // with the file's type, see inode(7)
	data []byte
}

const (
	dirMode  = 0o040755
	execMode = 0o100755
)

// initramfs packs files in the kernel's "newc" format. A directory must come
// before what is in it.
// https://docs.kernel.org/driver-api/early-userspace/buffer-format.html
func initramfs(files []file) []byte {
	var b bytes.Buffer
	pad := func() {
		for b.Len()%4 != 0 {
			b.WriteByte(0)
		}
	}
	add := func(ino int, f file) {
		links := 1
		fmt.Fprintf(&b, "070701%08x%08x%08x%08x%08x%08x%08x", ino, f.mode, 0, 0, links, 0, len(f.data))
		fmt.Fprintf(&b, "%08x%08x%08x%08x%08x%08x", 0, 0, 0, 0, len(f.name)+1, 0)
		b.WriteString(f.name + "\x00")
		pad()
		b.Write(f.data)
		pad()
	}
	for i, f := range files {
		add(i+1, f)
	}
	add(0, file{name: "TRAILER!!!"})
	return b.Bytes()
}
