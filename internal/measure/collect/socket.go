//go:build linux

package collect

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// behind is the process behind a Unix socket: the one that listens. The kernel
// tells it to whoever connects (unix(7), SO_PEERCRED). Where that is the
// machine's init, which opened the socket for a service, whoever holds it is
// looked for.
func (m *machine) behind(socket string) (int, error) {
	socket = strings.TrimPrefix(socket, "unix://")
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	defer unix.Close(fd)
	// On a Unix socket connecting does not wait, but for a full queue.
	if err := unix.Connect(fd, &unix.SockaddrUnix{Name: socket}); err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) {
			return 0, absent("nobody listens at %s", socket)
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
	return m.holder(socket)
}

// holder looks for a process, other than init, that has the listening socket
// among its descriptors.
func (m *machine) holder(socket string) (int, error) {
	b, err := os.ReadFile(m.path("/proc/net/unix"))
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	inode := listener(string(b), socket)
	if inode == "" {
		return 0, absent("the kernel lists no listening socket %s in our network namespace", socket)
	}
	want := "socket:[" + inode + "]"
	names, err := readNames(m.path("/proc"))
	if err != nil {
		return 0, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == 1 {
			continue
		}
		dir := m.proc(pid, "fd")
		fds, err := readNames(dir)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			if l, err := os.Readlink(dir + "/" + fd); err == nil && l == want {
				return pid, nil
			}
		}
	}
	return 0, absent("no process but init has %s open: its service does not run yet", socket)
}

// listener finds the inode of a listening socket in /proc/net/unix; source:
// proc(5). The flag is __SO_ACCEPTCON.
func listener(list, socket string) string {
	for l := range strings.Lines(list) {
		f := strings.Fields(l)
		if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
			return f[6]
		}
	}
	return ""
}
