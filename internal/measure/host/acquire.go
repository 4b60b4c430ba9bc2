//go:build linux

package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/safepath"
)

// turn is the right to measure on this machine. Two measurements at a time
// would measure each other.
type turn struct{ files []*os.File }

// BusyError says that somebody else measures now.
type BusyError struct {
	PID  int    // of the holder; 0 where it can't be seen
	Comm string // its name, where it can be seen
	File string
}

func (e *BusyError) Error() string {
	who := "a process that can't be seen from here"
	if e.PID != 0 {
		who = fmt.Sprintf("process %d", e.PID)
		if e.Comm != "" {
			who += " (" + e.Comm + ")"
		}
	}
	return fmt.Sprintf("another Plimsoll is measuring on this machine: %s holds %s; wait until it has ended", who, e.File)
}

// Lock takes this machine's turn to measure, or gives a *BusyError at once.
// getenv reads the user's environment. The lock is the kernel's: it ends with
// the process, however that ends; unlock may be called twice.
//
// Each lock lies where only its owner can make or open it: root's in
// /run/plimsoll, an ordinary user's in XDG_RUNTIME_DIR or, without a session, in
// the user's state directory. So nobody can keep root from measuring, nor one
// user another. An ordinary user who finds root measuring is refused. Root goes
// on beside an ordinary user, and beside says who that is.
func Lock(root bool, getenv func(string) string) (unlock func(), beside *BusyError, err error) {
	m := Machine{}
	own := systemLock
	if !root {
		if own, err = userLock(getenv); err != nil {
			return nil, nil, fmt.Errorf("taking the machine's turn to measure: %w", err)
		}
	}
	t, err := m.acquire(root, own)
	if err != nil {
		return nil, nil, err
	}
	if root {
		beside = m.others(own)
	}
	return t.release, beside, nil
}

const (
	systemLock = "/run/plimsoll/lock"
	lockTail   = "/plimsoll/lock" // how every lock's path ends
)

// userLock is where an ordinary user's lock lies.
func userLock(getenv func(string) string) (string, error) {
	for _, v := range []struct{ name, below string }{{"XDG_RUNTIME_DIR", ""}, {"XDG_STATE_HOME", ""}, {"HOME", ".local/state"}} {
		if dir := getenv(v.name); filepath.IsAbs(dir) {
			return filepath.Join(dir, v.below, lockTail), nil
		}
	}
	return "", errors.New("neither XDG_RUNTIME_DIR nor HOME is set; set XDG_RUNTIME_DIR to a directory of yours")
}

func (m Machine) acquire(root bool, own string) (*turn, error) {
	t := &turn{}
	if err := t.lock(m, own); err != nil {
		return nil, err
	}
	if !root {
		// Root's can't be opened by a user, who would hold it else: the kernel
		// tells all the same whether somebody has it.
		if busy := m.held(systemLock); busy != nil {
			t.release()
			return nil, busy
		}
	}
	return t, nil
}

// lock locks our own file.
func (t *turn) lock(m Machine, p string) error {
	dir, err := safepath.Make(m.path(filepath.Dir(p)), 0o755, safepath.Rule{Lasting: true})
	if err != nil {
		return fmt.Errorf("taking the machine's turn to measure: %w", err)
	}
	defer dir.Close()
	if dir.Owner() != os.Geteuid() || dir.Shared() {
		return fmt.Errorf("taking the machine's turn to measure: %s is not ours alone; set XDG_RUNTIME_DIR to a directory of yours", dir.Path())
	}
	if p == systemLock { // whatever the umask: users look whether root measures
		if err := dir.Chmod(0o755); err != nil {
			return fmt.Errorf("taking the machine's turn to measure: %w", err)
		}
	}
	f, err := dir.OpenFile(filepath.Base(p), os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = f.Chmod(0o600) // earlier versions let everybody open it
	}
	if err != nil {
		return fmt.Errorf("taking the machine's turn to measure: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		t.files = append(t.files, f)
		return nil
	}
	defer f.Close()
	if !errors.Is(err, unix.EWOULDBLOCK) {
		return fmt.Errorf("taking the machine's turn to measure by %s: %w", p, err)
	}
	if busy := m.held(p); busy != nil {
		return busy
	}
	return &BusyError{File: p} // held where it can't be seen from here
}

// held says who holds a lock, without opening it; nil where nobody does, or
// where it isn't there.
func (m Machine) held(p string) *BusyError {
	info, err := os.Lstat(m.path(p))
	if err != nil {
		return nil
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	pid, err := parse(m, "/proc/locks", func(r io.Reader) (int, error) {
		return lockHolder(r, unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
	})
	if err != nil || pid == 0 {
		return nil
	}
	return &BusyError{PID: pid, Comm: m.text(fmt.Sprintf("/proc/%d/comm", pid)), File: p}
}

// others finds a process that holds a lock of another user's. It looks at what
// processes have open and never at a file of theirs: a file system of a user's
// own could keep who looks there for ever.
func (m Machine) others(own string) *BusyError {
	pids, err := parse(m, "/proc/locks", lockers)
	if err != nil {
		return nil
	}
	for _, pid := range pids {
		dir := m.path(fmt.Sprintf("/proc/%d/fd", pid))
		open, err := os.ReadDir(dir)
		if err != nil {
			continue // it has ended
		}
		for _, fd := range open {
			to, err := os.Readlink(filepath.Join(dir, fd.Name()))
			if err == nil && strings.HasSuffix(to, lockTail) && to != m.path(own) && to != systemLock {
				return &BusyError{PID: pid, Comm: m.text(fmt.Sprintf("/proc/%d/comm", pid)), File: to}
			}
		}
	}
	return nil
}

// lockers lists the processes that hold a lock by flock(2).
func lockers(r io.Reader) ([]int, error) {
	var pids []int
	err := lines(r, func(s string) error {
		f := strings.Fields(s)
		if len(f) < 6 || f[1] != "FLOCK" {
			return nil
		}
		if pid, err := strconv.Atoi(f[4]); err == nil && pid > 0 && !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
		return nil
	})
	return pids, err
}

// lockHolder finds in /proc/locks who holds a lock on a file, 0 where nobody
// is named: "1: FLOCK  ADVISORY  WRITE 1234 fe:00:131 0 EOF". Source: proc(5).
func lockHolder(r io.Reader, major, minor uint32, inode uint64) (int, error) {
	want, pid := fmt.Sprintf("%02x:%02x:%d", major, minor, inode), 0
	err := lines(r, func(s string) error {
		f := strings.Fields(s)
		if len(f) < 6 || f[1] != "FLOCK" || f[5] != want {
			return nil // waiting ones have "->" in second place
		}
		n, err := strconv.Atoi(f[4])
		if err != nil {
			return fmt.Errorf("%q is no line of /proc/locks", s)
		}
		pid = max(0, n)
		return errStop
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return pid, err
}

// release gives the turn back.
func (t *turn) release() {
	for _, f := range t.files {
		f.Close()
	}
	t.files = nil
}
