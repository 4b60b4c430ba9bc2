//go:build linux

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// lockable is a machine of our own with the real /proc, so that no real lock
// is touched.
func lockable(t *testing.T) Machine {
	t.Helper()
	m := Machine{Root: t.TempDir()}
	if err := os.Symlink("/proc", m.path("/proc")); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestOneAtATime(t *testing.T) {
	m := lockable(t)
	first, err := m.acquire(true, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	for who, take := range map[string]func() (*turn, error){
		"root":                       func() (*turn, error) { return m.acquire(true, 0, "") },
		"a user":                     func() (*turn, error) { return m.acquire(false, 1000, "/run/user/1000") },
		"a user without a directory": func() (*turn, error) { return m.acquire(false, 1000, "") },
	} {
		_, err := take()
		var busy *BusyError
		if !errors.As(err, &busy) {
			t.Fatalf("%s beside root: %v", who, err)
		}
		if busy.PID != os.Getpid() || busy.Comm == "" || !strings.Contains(err.Error(), "wait") {
			t.Errorf("%s: %+v: %v", who, busy, err)
		}
	}
	first.release()
	first.release()
	for _, runtimeDir := range []string{"/run/user/1000", ""} {
		user, err := m.acquire(false, 1000, runtimeDir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.acquire(true, 0, ""); err == nil {
			t.Errorf("root measures beside a user with the directory %q", runtimeDir)
		}
		user.release()
	}
	again, err := m.acquire(true, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	again.release()
}

func TestALockInSomebodyElsesDirectoryIsNotTaken(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a directory of another user")
	}
	m := lockable(t)
	dir := m.path("/tmp/plimsoll-1000")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, 12345); err != nil {
		t.Skip("owners can't be set here: ", err)
	}
	if _, err := m.acquire(false, 1000, ""); err == nil {
		t.Error("the lock was taken")
	}
	// A link in place of the lock leads nowhere.
	other := filepath.Join(t.TempDir(), "target")
	if err := os.MkdirAll(m.path("/run/plimsoll"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, m.path(systemLock)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.acquire(true, 0, ""); err == nil || exists(other) {
		t.Errorf("a link was followed (%v)", err)
	}
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }

// Directories whose name only begins like that of a user's lock have locks of
// their own, which are none of ours.
func TestOtherDirectoriesAreLeftAlone(t *testing.T) {
	m := lockable(t)
	lock := m.path("/tmp/plimsoll-test-images-0/lock")
	if err := os.MkdirAll(filepath.Dir(lock), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	turn, err := m.acquire(true, 0, "")
	if err != nil {
		t.Fatal(err)
	}
	turn.release()
}
