//go:build linux

package proc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const unixSockets = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000003 00000000 00000000 0001 03 11 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 22 /run/docker.sock
0000000000000000: 00000002 00000000 00010000 0001 01 33 /run/other.sock
0000000000000000: 00000002 00000000 00000000 0002 01 44
`

func TestListening(t *testing.T) {
	if got := listening(unixSockets, "/run/docker.sock"); !slices.Equal(got, []string{"22"}) {
		t.Errorf("the listener's inode is %v", got)
	}
	if got := listening(unixSockets, "/run/none.sock"); len(got) > 0 {
		t.Errorf("nobody listens, but %v do", got)
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

// What systemd made for a service is systemd's by the kernel's word: the service is found
// by the descriptor that it was handed. The unit may name another path to it than who
// asks, and another mount namespace may have another socket of that name.
func TestBehindSystemd(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "run"), 0o755), os.Symlink("run", filepath.Join(dir, "link"))); err != nil {
		t.Fatal(err)
	}
	path, asked := filepath.Join(dir, "run", "s"), filepath.Join(dir, "link", "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const other, ours = 41, 42
	machine := t.TempDir()
	write := func(name, text string) {
		file := filepath.Join(machine, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("net/unix", fmt.Sprintf("0: 2 0 00010000 0001 01 %d %s\n0: 2 0 00010000 0001 01 %d %s\n", other, path, ours, path))
	write("1/stat", "1 (systemd) S 0 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0\n")
	for pid, inode := range map[int]int{1: ours, 3: other, 4: 7, 77: ours} {
		dir := filepath.Join(machine, PID(pid), "fd")
		if err := errors.Join(os.MkdirAll(dir, 0o755), os.Symlink(fmt.Sprintf("socket:[%d]", inode), filepath.Join(dir, "3"))); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{path, asked} {
		if asleep, err := Dir(machine).Asleep(p); asleep || err != nil {
			t.Errorf("a service runs behind %s, but it is asleep: %v (%v)", p, asleep, err)
		}
	}
	for _, p := range []string{path, asked, asked} {
		if pid, err := Dir(machine).holder(p, 1); pid != 77 || err != nil {
			t.Errorf("the service behind %s is %d: %v", p, pid, err)
		}
	}
	if err := os.RemoveAll(filepath.Join(machine, "77")); err != nil {
		t.Fatal(err)
	}
	if _, err := Dir(machine).holder(path, 1); !errors.Is(err, ErrNobody) {
		t.Errorf("where systemd alone holds it: %v", err)
	}
	for _, p := range []string{path, asked} {
		if asleep, err := Dir(machine).Asleep(p); !asleep || err != nil {
			t.Errorf("systemd alone holds %s, but it is not asleep: %v (%v)", p, asleep, err)
		}
	}
	if asleep, err := Here.Asleep(path); asleep || err != nil {
		t.Errorf("this test listens itself, but its socket is asleep: %v (%v)", asleep, err)
	}
	if !Dir(machine).hands(1) || Here.hands(os.Getpid()) {
		t.Errorf("systemd makes sockets for services: %v, and this test: %v", Dir(machine).hands(1), Here.hands(os.Getpid()))
	}
}
