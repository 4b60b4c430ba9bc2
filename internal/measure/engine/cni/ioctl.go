package cni

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// delBridge is SIOCBRDELBR, which takes the name alone.
func delBridge(fd int, name string) error {
	b, err := unix.ByteSliceFromString(name)
	if err != nil {
		return err
	}
	buf := make([]byte, unix.IFNAMSIZ)
	copy(buf, b)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCBRDELBR, uintptr(unsafe.Pointer(&buf[0]))); errno != 0 {
		return errno
	}
	return nil
}
