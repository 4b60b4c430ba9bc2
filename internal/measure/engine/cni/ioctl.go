package cni

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addBridge is SIOCBRADDBR, and delBridge SIOCBRDELBR, which take the name alone.
func addBridge(fd int, name string) error { return byName(fd, unix.SIOCBRADDBR, name) }
func delBridge(fd int, name string) error { return byName(fd, unix.SIOCBRDELBR, name) }

func byName(fd int, request uintptr, name string) error {
	b, err := unix.ByteSliceFromString(name)
	if err != nil {
		return err
	}
	buf := make([]byte, unix.IFNAMSIZ)
	copy(buf, b)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&buf[0]))); errno != 0 {
		return errno
	}
	return nil
}

// setUp takes an interface up or down.
func setUp(fd int, name string, up bool) error {
	req, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return fmt.Errorf("reading the flags of %s: %w", name, err)
	}
	flags, verb := req.Uint16()&^unix.IFF_UP, "down"
	if up {
		flags, verb = flags|unix.IFF_UP, "up"
	}
	req.SetUint16(flags)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, req); err != nil {
		return fmt.Errorf("taking %s %s: %w", name, verb, err)
	}
	return nil
}
