//go:build linux

package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

const unixSockets = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000003 00000000 00000000 0001 03 11 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 22 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 33 /run/other.sock
0000000000000000: 00000002 00000000 00000000 0002 01 44
`

func TestListening(t *testing.T) {
	if got := listening(unixSockets, "/run/docker.sock"); got != "22" {
		t.Errorf("the listener's inode is %q", got)
	}
	if got := listening(unixSockets, "/run/none.sock"); got != "" {
		t.Errorf("nobody listens, but %q does", got)
	}
}

func TestBehind(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	if _, err := Here.Behind(path); !errors.Is(err, ErrNobody) {
		t.Errorf("where no socket is: %v", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if pid, err := Here.Behind(path); pid != os.Getpid() || err != nil {
		t.Errorf("behind our own socket is %d (we are %d): %v", pid, os.Getpid(), err)
	}
}

// What systemd made for a service is init's by the kernel's word: the service is
// found by the descriptor that it was handed.
func TestBehindInit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := l.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var st unix.Stat_t
	if err := errors.Join(raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) }), err); err != nil {
		t.Fatal(err)
	}
	machine := t.TempDir()
	for name, text := range map[string]string{"net/unix": fmt.Sprintf("0: 2 0 00010000 0001 01 %d %s\n", st.Ino, path)} {
		file := filepath.Join(machine, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{1, 4, 77} {
		dir := filepath.Join(machine, PID(pid), "fd")
		target := fmt.Sprintf("socket:[%d]", st.Ino)
		if pid == 4 {
			target = "/dev/null"
		}
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(target, filepath.Join(dir, "3"))); err != nil {
			t.Fatal(err)
		}
	}
	if pid, err := Dir(machine).holder(path); pid != 77 || err != nil {
		t.Errorf("the service behind init's socket is %d: %v", pid, err)
	}
	if err := os.RemoveAll(filepath.Join(machine, "77")); err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(machine).holder(path); !errors.Is(err, ErrNobody) {
		t.Errorf("where init alone holds it: %v", err)
	}
}
