//go:build linux

package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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
	return fmt.Sprintf("another Plimsoll measures on this machine: %s holds %s; wait until it has ended", who, e.File)
}

// Lock takes this machine's turn to measure, or gives a *BusyError at once.
// getenv reads the user's environment. The lock is the kernel's: it ends with
// the process, however that ends; unlock may be called twice.
//
// Root locks /run/plimsoll/lock, an ordinary user the same below
// XDG_RUNTIME_DIR or, without a session, below /tmp; each also takes the
// others' locks where there are any, so that root and users exclude one another.
func Lock(root bool, getenv func(string) string) (unlock func(), err error) {
	t, err := Machine{}.acquire(root, os.Geteuid(), getenv("XDG_RUNTIME_DIR"))
	if err != nil {
		return nil, err
	}
	return t.release, nil
}

const (
	systemLock   = "/run/plimsoll/lock"
	sessionLocks = "/run/user/*/plimsoll/lock"
	homelessLock = "/tmp/plimsoll-%d/lock" // of a user without XDG_RUNTIME_DIR
)

var homeless = regexp.MustCompile(`/tmp/plimsoll-[0-9]+/lock$`)

func (m Machine) acquire(root bool, uid int, runtimeDir string) (*turn, error) {
	own, others := systemLock, m.glob(sessionLocks)
	for _, p := range m.glob(strings.Replace(homelessLock, "%d", "*", 1)) {
		// A number only: other directories that begin alike have locks of their own.
		if homeless.MatchString(p) {
			others = append(others, p)
		}
	}
	if !root {
		own, others = fmt.Sprintf(homelessLock, uid), []string{systemLock}
		if filepath.IsAbs(runtimeDir) {
			own = filepath.Join(runtimeDir, "plimsoll/lock")
		}
	}
	t := &turn{}
	for i, p := range append([]string{own}, others...) {
		if i > 0 && p == own {
			continue
		}
		if err := t.lock(m, p, i == 0); err != nil {
			t.release()
			return nil, err
		}
	}
	return t, nil
}

// lock locks one file. Somebody else's is opened for reading only, which is
// enough for flock(2), and is passed over when it isn't there or not ours to
// read.
func (t *turn) lock(m Machine, p string, own bool) error {
	flags := os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if own {
		if err := ownDir(m.path(filepath.Dir(p))); err != nil {
			return fmt.Errorf("taking the machine's turn to measure: %w", err)
		}
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(m.path(p), flags, 0o644)
	if err != nil {
		if !own && (errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission)) {
			return nil
		}
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
	busy := &BusyError{File: p}
	if info, err := f.Stat(); err == nil {
		if st, ok := info.Sys().(*syscall.Stat_t); ok {
			busy.PID, _ = parse(m, "/proc/locks", func(r io.Reader) (int, error) {
				return lockHolder(r, unix.Major(st.Dev), unix.Minor(st.Dev), st.Ino)
			})
		}
	}
	if busy.PID != 0 {
		busy.Comm = m.text(fmt.Sprintf("/proc/%d/comm", busy.PID))
	}
	return busy
}

// ownDir makes the lock's directory. Below /tmp anybody may have made it
// before us, and then the lock would be theirs.
func ownDir(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("%s belongs to somebody else; set XDG_RUNTIME_DIR to a directory of yours", dir)
	}
	return nil
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
