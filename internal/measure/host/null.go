//go:build linux

package host

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Null is whose /dev/null was. gVisor gives the file that it is handed as standard
// input to the container's user, and where there is nothing to read that is /dev/null:
// the machine's own, after a trial of ours.
type Null struct {
	path string
	st   unix.Stat_t
}

// Null notes whose /dev/null is; nil where that can't be seen, where it is not root's, so
// that nobody gives back what another run will, and where we are not root.
func (m Machine) Null() *Null {
	n := &Null{path: m.path("/dev/null")}
	if unix.Geteuid() != 0 || unix.Lstat(n.path, &n.st) != nil || n.st.Mode&unix.S_IFMT != unix.S_IFCHR || n.st.Uid != 0 {
		return nil
	}
	return n
}

// PutBack gives it back to root, where it is still the same device and belongs to
// somebody else now.
func (n *Null) PutBack() error {
	var now unix.Stat_t
	if n == nil || unix.Lstat(n.path, &now) != nil || now.Mode&unix.S_IFMT != unix.S_IFCHR || now.Rdev != n.st.Rdev || now.Ino != n.st.Ino ||
		now.Uid == n.st.Uid && now.Gid == n.st.Gid {
		return nil
	}
	if err := unix.Lchown(n.path, int(n.st.Uid), int(n.st.Gid)); err != nil {
		return fmt.Errorf("an engine gave %s to another user, and it can't be given back: %w (chown %d:%d %s)", n.path, err, n.st.Uid, n.st.Gid, n.path)
	}
	return nil
}
