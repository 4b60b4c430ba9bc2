//go:build linux

package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Turn is the right to measure on this machine. Two measurements at a time
// would measure each other.
type Turn struct{ files []*os.File }

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

// Acquire takes the machine's turn, or gives a *BusyError at once. runtimeDir
// is the user's XDG_RUNTIME_DIR. The lock is the kernel's: it ends with the
// process, however that ends.
//
// Root locks /run/plimsoll/lock, an ordinary user the same name below the
// runtime directory; each also takes the other's lock where there is one, so
// that root and users exclude one another.
func (m Machine) Acquire(runtimeDir string) (*Turn, error) {
	const system = "/run/plimsoll/lock"
	own, others := system, m.glob("/run/user/*/plimsoll/lock")
	if os.Geteuid() != 0 {
		if runtimeDir == "" || !filepath.IsAbs(runtimeDir) {
			return nil, errors.New("taking the machine's turn to measure: XDG_RUNTIME_DIR is not set, " +
				"so there is no place for a lock (log in properly, or set it to a directory of yours)")
		}
		own, others = filepath.Join(runtimeDir, "plimsoll/lock"), []string{system}
	}
	t := &Turn{}
	if err := t.lock(m, own, true); err != nil {
		t.Release()
		return nil, err
	}
	for _, p := range others {
		if p == own {
			continue
		}
		if err := t.lock(m, p, false); err != nil {
			t.Release()
			return nil, err
		}
	}
	return t, nil
}

// lock locks one file. Somebody else's is opened for reading only, which is
// enough for flock(2), and is passed over when it isn't there or not ours to
// read.
func (t *Turn) lock(m Machine, p string, own bool) error {
	flags := os.O_RDONLY | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if own {
		if err := os.MkdirAll(m.path(filepath.Dir(p)), 0o755); err != nil {
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

// Release gives the turn back. It is safe to call twice.
func (t *Turn) Release() error {
	var errs []error
	for _, f := range t.files {
		errs = append(errs, f.Close())
	}
	t.files = nil
	return errors.Join(errs...)
}
