//go:build linux

package proc

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNobody says that no process listens at a socket, or none that can be told.
var ErrNobody = errors.New("nobody listens")

// Behind is the process behind a Unix socket: the one that listens. The kernel
// tells it to whoever connects (unix(7), SO_PEERCRED). Where that is the
// machine's init, which opened the socket for a service, whoever holds it is
// looked for. The error is ErrNobody where there is none.
func (d Dir) Behind(socket string) (pid int, err error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// On a Unix socket connecting does not wait, but for a full queue.
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) {
			return 0, fmt.Errorf("%w at %s", ErrNobody, socket)
		}
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	if cred.Pid > 1 {
		return int(cred.Pid), nil
	}
	return d.holder(socket)
}

// holder looks for a process, other than init, that has the listening socket
// among its descriptors.
func (d Dir) holder(socket string) (int, error) {
	list, err := d.read("net", "unix")
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	inode := listening(list, socket)
	if inode == "" {
		return 0, fmt.Errorf("%w: the kernel lists no listening socket %s in our network namespace", ErrNobody, socket)
	}
	want := "socket:[" + inode + "]"
	for _, pid := range d.PIDs() {
		if pid == 1 {
			continue
		}
		dir := filepath.Join(string(d), PID(pid), "fd")
		fds, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if l, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && l == want {
				return pid, nil
			}
		}
	}
	return 0, fmt.Errorf("%w: no process but init has %s open; its service does not run yet", ErrNobody, socket)
}

// listening finds the inode of a listening socket in /proc/net/unix; source:
// proc(5). The flag is __SO_ACCEPTCON.
func listening(list, socket string) string {
	for l := range strings.Lines(list) {
		f := strings.Fields(l)
		if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
			return f[6]
		}
	}
	return ""
}
