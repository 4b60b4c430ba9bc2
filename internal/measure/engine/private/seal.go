package private

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/measure/host/proc"

	"golang.org/x/sys/unix"
)

// sealDir is where the seal lies, below the daemon's directory, and sealType
// what it is.
const (
	sealDir  = "seal"
	sealType = "tmpfs"
)

// sealSource is the source that the seal's mount tells.
func (n *note) sealSource() string { return "plimsoll-" + n.label() }

// seal makes the calling thread's mount namespace known as the daemon's: by a
// small mount that no other namespace has, and by its inode in the note. The
// kernel gives the number of a namespace that is gone to the next one, so that
// the inode alone would be no proof; and whoever makes a mount like the seal
// makes it in another namespace.
func (n *note) seal(dir string) error {
	point := filepath.Join(dir, sealDir)
	if err := os.Mkdir(point, 0o700); err != nil {
		return err
	}
	flags := uintptr(unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC)
	if err := unix.Mount(n.sealSource(), point, sealType, flags, "size=4k,mode=0700"); err != nil {
		return fmt.Errorf("sealing the daemon's mount namespace: %w", err)
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/mnt", &st); err != nil {
		return fmt.Errorf("sealing the daemon's mount namespace: %w", err)
	}
	n.Mount = inodeOf(&st)
	return n.write(dir)
}

// sealed gives a function that says whether a process is in the mount
// namespace that was made for the daemon. Neither PID 1's nor our own is.
func (n *note) sealed() func(pid int) bool {
	other := n.Mount.Ino == 0
	for _, pid := range []string{"1", "self"} {
		ns, ok := mountNamespace(pid)
		other = other || ok && ns == n.Mount
	}
	proved := false
	return func(pid int) bool {
		if other {
			return false
		}
		if ns, ok := mountNamespace(strconv.Itoa(pid)); !ok || ns != n.Mount {
			return false
		}
		// A process with another root may see no mount of its namespace.
		mounts, _ := proc.Here.Mounts(proc.PID(pid))
		for _, m := range mounts {
			proved = proved || strings.Contains(m.Mountpoint, "/"+sealDir) && m.FSType == sealType && m.Source == n.sealSource()
		}
		return proved
	}
}

func mountNamespace(pid string) (inode, bool) {
	var st unix.Stat_t
	if unix.Stat("/proc/"+pid+"/ns/mnt", &st) != nil {
		return inode{}, false
	}
	return inodeOf(&st), true
}
