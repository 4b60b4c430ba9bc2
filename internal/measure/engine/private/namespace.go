package private

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// unshare moves the calling thread into network and mount namespaces of its
// own, with loopback up. hidden are directories that are seen as the given
// ones (target to source). Mounts that the host makes or undoes later are seen
// here, where the host shares its mounts; none of ours is seen there. seal is
// called once the namespaces are there.
func unshare(hidden map[string]string, keep []string, seal func() error) error {
	if err := unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("making network and mount namespaces: %w", err)
	}
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("keeping mounts from the host: %w", err)
	}
	if err := seal(); err != nil {
		return err
	}
	if err := letGo(keep); err != nil {
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

// letGo drops the copies of other file systems of ours: a copy in a long-lived
// namespace would keep their loop devices busy.
func letGo(keep []string) error {
	mounts, err := mounted()
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(mounts) {
		if !strings.Contains(m.Mountpoint, "/"+fsPrefix) || wanted(m.Mountpoint, keep) {
			continue
		}
		if err := unix.Unmount(m.Mountpoint, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("letting go of %s: %w", m.Mountpoint, err)
		}
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
