//go:build linux

package host

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
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
	// Command is its command line, and Since is when it took the turn; empty where
	// that can't be seen.
	Command string
	Since   time.Time
	// Study is what is measured, where the holder says so and that can be read.
	Study string
	// Waits says that the machine is not taken, but that this process waits for it;
	// Before is how many wait before us, beside whoever holds it.
	Waits  bool
	Before int
}

// Who says who measures, since when and by which command, as far as that is known.
// The command is another process's own word: it is to be made harmless.
func (e *BusyError) Who() string {
	s := "a process that can't be seen from here"
	if e.PID != 0 {
		s = fmt.Sprintf("process %d", e.PID)
		if what := cmp.Or(e.Command, e.Comm); what != "" {
			s += " (" + what + ")"
		}
	}
	if e.Study != "" {
		s += " with the study " + e.Study
	}
	if !e.Since.IsZero() {
		s += ", since " + e.Since.Format("15:04:05")
	}
	return s
}

func (e *BusyError) Error() string {
	if e.Waits {
		return fmt.Sprintf("another Plimsoll waits for this machine: %s, by %s; it came first", e.Who(), e.File)
	}
	return fmt.Sprintf("another Plimsoll is measuring on this machine: %s, by %s; wait until it has ended", e.Who(), e.File)
}

const (
	systemLock = "/run/plimsoll/lock"
	lockTail   = "/plimsoll/lock" // how every lock's path ends
)

func (m Machine) acquire(root bool, own, study string) (*turn, error) {
	t := &turn{}
	if err := t.lock(m, own, study); err != nil {
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
func (t *turn) lock(m Machine, p, study string) error {
	dir, err := safepath.Make(m.path(filepath.Dir(p)), 0o755, safepath.Rule{Lasting: true})
	switch {
	case errors.Is(err, fs.ErrPermission) && p != systemLock: // an account whose home is not its own
		return fmt.Errorf("taking the machine's turn to measure: %w; set XDG_RUNTIME_DIR to a directory of yours", err)
	case err != nil:
		return fmt.Errorf("taking the machine's turn to measure: %w", err)
	}
	defer dir.Close()
	if !dir.OursAlone() {
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
	err = filelock.TryLock(f)
	if err == nil {
		t.files = append(t.files, f)
		// When the turn was taken and for what, for who waits: nothing is lost without.
		_ = f.Truncate(0)
		_, _ = f.WriteString(study + "\n")
		_ = unix.Futimes(int(f.Fd()), nil)
		return nil
	}
	defer f.Close()
	if !errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("taking the machine's turn to measure by %s: %w", p, err)
	}
	if busy := m.held(p); busy != nil {
		return busy
	}
	return &BusyError{File: p} // held where it can't be seen from here
}

// held says who holds a lock of ours or of root's, without waiting for it; nil where
// nobody does, or where it isn't there.
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
	e := m.busy(pid, p, info.ModTime())
	e.Study, _, _ = strings.Cut(m.text(p), "\n") // our own file, or one that can't be opened
	return e
}

// busy says what can be seen of a holder.
func (m Machine) busy(pid int, file string, since time.Time) *BusyError {
	e := &BusyError{PID: pid, Comm: m.text(fmt.Sprintf("/proc/%d/comm", pid)), File: file, Since: since}
	const most = 100
	line := strings.Join(strings.FieldsFunc(m.text(fmt.Sprintf("/proc/%d/cmdline", pid)), func(r rune) bool { return r == 0 }), " ")
	if r := []rune(line); len(r) > most {
		line = string(r[:most-1]) + "…"
	}
	e.Command = line
	return e
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
				return m.busy(pid, to, time.Time{})
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
			return fmt.Errorf("%q is not a line of /proc/locks", s)
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
