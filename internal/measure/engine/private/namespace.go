package private

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
	mounts, err := mountsWith("/" + fsPrefix)
	if err != nil {
		return err
	}
	for i := len(mounts) - 1; i >= 0; i-- {
		if wanted(mounts[i].point, keep) {
			continue
		}
		if err := unix.Unmount(mounts[i].point, unix.MNT_DETACH); err != nil && err != unix.EINVAL && err != unix.ENOENT {
			return fmt.Errorf("letting go of %s: %w", mounts[i].point, err)
		}
	}
	return nil
}

func wanted(point string, keep []string) bool {
	for _, k := range keep {
		if point == k || strings.HasPrefix(point, k+"/") {
			return true
		}
	}
	return false
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

// mount is one line of mountinfo.
type mount struct{ point, fs, source string }

// mountsWith lists the mounts of the calling thread's namespace whose mount
// point holds a text, in the order in which they were made.
func mountsWith(text string) ([]mount, error) {
	info, err := os.ReadFile("/proc/thread-self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("reading the list of mounts: %w", err)
	}
	return parseMounts(string(info), text), nil
}

// parseMounts reads mountinfo; see proc_pid_mountinfo(5).
func parseMounts(info, text string) []mount {
	var all []mount
	for line := range strings.Lines(info) {
		before, after, ok := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !ok || len(f) < 5 || len(g) < 2 {
			continue
		}
		if m := (mount{unescape(f[4]), g[0], unescape(g[1])}); strings.Contains(m.point, text) {
			all = append(all, m)
		}
	}
	return all
}

var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace

// mountsBelow gives the mount points at and below a directory.
func mountsBelow(dir string) ([]string, error) {
	all, err := mountsWith(dir)
	var points []string
	for _, m := range all {
		if rel, err := filepath.Rel(dir, m.point); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			points = append(points, m.point)
		}
	}
	return points, err
}
