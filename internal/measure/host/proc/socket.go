//go:build linux

package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNobody says that no process listens at a socket, or none that can be told.
var ErrNobody = errors.New("nobody listens")

// Peer is who listens at a Unix socket, by the kernel's word to whoever connects (unix(7),
// SO_PEERCRED): the process that made the socket, and its user. The process is 0 where it
// lies outside of this PID namespace. The error is ErrNobody where nobody listens.
func Peer(socket string) (*unix.Ucred, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	defer func() { _ = unix.Close(fd) }()
	// On a Unix socket connecting does not wait, but for a full queue.
	connect := func() error { return unix.Connect(fd, &unix.SockaddrUnix{Name: socket}) }
	err = connect()
	for patience := time.Now().Add(time.Second); errors.Is(err, unix.EAGAIN) && time.Now().Before(patience); err = connect() {
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ECONNREFUSED) {
			return nil, fmt.Errorf("%w at %s", ErrNobody, socket)
		}
		if errors.Is(err, unix.EACCES) {
			return nil, fmt.Errorf("you may not connect to %s: its group may, or root", socket)
		}
		return nil, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	cred, err := peer(fd)
	if err != nil {
		return nil, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	return cred, nil
}

func peer(fd int) (*unix.Ucred, error) {
	return unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
}

// PeerOf is like Peer for a connection that is there: of whoever listens at its other end.
func PeerOf(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if cerr := raw.Control(func(fd uintptr) { cred, err = peer(int(fd)) }); cerr != nil {
		return nil, cerr
	}
	return cred, err
}

// Behind is the process behind a Unix socket: the one that listens, as Peer has it.
// Where that is systemd, which made the socket for a service, whoever holds it is
// looked for. The error is ErrNobody where there is none, or none that can be seen.
func (d Dir) Behind(socket string) (pid int, err error) {
	cred, err := Peer(socket)
	if err != nil {
		return 0, err
	}
	maker := int(cred.Pid)
	if maker == 0 {
		return 0, fmt.Errorf("%w that can be seen from here at %s: its process lies outside of this PID namespace; run Plimsoll outside of the container", ErrNobody, socket)
	}
	if !d.hands(maker) {
		return maker, nil
	}
	return d.holder(socket, maker)
}

// hands says whether a process makes sockets for services: the machine's systemd, or a
// user's.
func (d Dir) hands(pid int) bool {
	st, err := d.Stat(pid)
	if err != nil {
		return pid == 1
	}
	return st.Comm == "systemd" || pid == 1 && st.Comm == "init"
}

// lastHolder is who held a socket when it was looked for last, by Dir and inode: to look
// at all descriptors of all processes takes long.
var lastHolder sync.Map

// Asleep reports whether a service manager alone holds the listening socket at a path: its
// service does not run, and connecting would start it (socket activation). It connects to
// nothing. The error is an fs.ErrPermission where the manager's descriptors can't be read,
// as by an ordinary user.
func (d Dir) Asleep(socket string) (bool, error) {
	inodes, err := d.inodes(socket)
	if err != nil || len(inodes) == 0 {
		return false, err
	}
	closed := false
	for _, manager := range d.PIDs() {
		if !d.hands(manager) {
			continue
		}
		for _, inode := range inodes {
			held, err := d.holds(manager, inode)
			closed = closed || err != nil
			if !held {
				continue
			}
			pid, hidden := d.otherHolder(inode, manager)
			if pid != 0 || !hidden {
				return pid == 0, nil
			}
			closed = true
		}
	}
	if closed {
		return false, fmt.Errorf("finding the process that serves %s: %w", socket, fs.ErrPermission)
	}
	return false, nil
}

// holder looks for a process, other than the one that made it, that has the listening
// socket among its descriptors. Of several listening sockets of this name it is the one
// that the maker has: in another mount namespace anybody may have made another.
func (d Dir) holder(socket string, maker int) (int, error) {
	inodes, err := d.inodes(socket)
	if err != nil {
		return 0, err
	}
	closed := false
	for _, inode := range inodes {
		held, err := d.holds(maker, inode)
		closed = closed || err != nil
		if !held {
			continue
		}
		pid, hidden := d.otherHolder(inode, maker)
		if pid != 0 {
			return pid, nil
		}
		closed = closed || hidden
	}
	if closed {
		return 0, fmt.Errorf("%w that you may look at: %s is made by systemd, and which process serves it root can tell; run Plimsoll as root", ErrNobody, socket)
	}
	return 0, fmt.Errorf("%w: no process but systemd has %s open; its service does not run yet: start it, then try again", ErrNobody, socket)
}

// inodes are those of the sockets that listen at a path.
func (d Dir) inodes(socket string) ([]string, error) {
	list, err := d.read("net", "unix")
	if err != nil {
		return nil, fmt.Errorf("finding the process behind %s: %w", socket, err)
	}
	var inodes []string
	for _, name := range SocketNames(socket) {
		inodes = append(inodes, listening(list, name)...)
	}
	return inodes, nil
}

// SocketNames returns the names that a service may have given to a socket: /var/run is /run.
func SocketNames(socket string) []string {
	names := []string{socket}
	if resolved, err := filepath.EvalSymlinks(socket); err == nil {
		names = append(names, resolved, "/var"+resolved)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// holds reports whether a process has a socket among its descriptors. The error says that
// they may not be read; a process that has ended holds nothing.
func (d Dir) holds(pid int, inode string) (bool, error) {
	dir := filepath.Join(string(d), PID(pid), "fd")
	fds, err := os.ReadDir(dir)
	for _, fd := range fds {
		if l, err := os.Readlink(filepath.Join(dir, fd.Name())); err == nil && l == "socket:["+inode+"]" {
			return true, nil
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return false, err
	}
	return false, nil
}

// otherHolder returns a process other than maker that has the socket, or 0; hidden says
// that a process could not be looked at.
func (d Dir) otherHolder(inode string, maker int) (pid int, hidden bool) {
	key := string(d) + " " + inode
	if v, ok := lastHolder.Load(key); ok {
		if held, _ := d.holds(v.(int), inode); held {
			return v.(int), false
		}
	}
	for _, pid := range d.PIDs() {
		if pid == maker {
			continue
		}
		held, err := d.holds(pid, inode)
		if held {
			lastHolder.Store(key, pid)
			return pid, false
		}
		hidden = hidden || err != nil
	}
	return 0, hidden
}

// listening finds the inodes of the listening sockets of a name in /proc/net/unix;
// source: proc(5). The flag is __SO_ACCEPTCON.
func listening(list, socket string) (inodes []string) {
	for l := range strings.Lines(list) {
		f := strings.Fields(l)
		if len(f) == 8 && f[7] == socket && f[3] == "00010000" {
			inodes = append(inodes, f[6])
		}
	}
	return inodes
}
