package private

import (
	"fmt"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine/thread"
	"plimsoll/internal/measure/host/proc"
)

// unshare moves the calling thread into network and mount namespaces of its
// own, with loopback up. hidden are directories that are seen as the given
// ones (target to source). Other loop file systems of ours than those to keep
// are left out. seal is called once the namespaces are there.
func unshare(hidden map[string]string, keep []string, seal func() error) error {
	err := thread.Unshare(unix.CLONE_NEWNET, func(path string) bool {
		return IsFileSystem(path) && !wanted(path, keep)
	})
	if err != nil {
		return err
	}
	if err := seal(); err != nil {
		return err
	}
	for target, source := range hidden {
		if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
			return fmt.Errorf("hiding %s: %w", target, err)
		}
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("bringing loopback up: %w", err)
	}
	return nil
}

func wanted(point string, keep []string) bool {
	return slices.ContainsFunc(keep, func(k string) bool { return proc.Under(point, k) })
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	ifr, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifr); err != nil {
		return err
	}
	ifr.SetUint16(ifr.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifr)
}

// mounted lists the mounts of the calling thread's namespace.
func mounted() ([]*proc.Mount, error) { return proc.Here.Mounts(proc.Thread) }

// mountsBelow gives the mount points at and below a directory.
func mountsBelow(dir string) ([]string, error) {
	all, err := mounted()
	return proc.Below(all, filepath.Clean(dir)), err
}
