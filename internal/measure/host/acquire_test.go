//go:build linux

package host

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// lockable is a machine of our own with the real /proc, so that no real lock
// is touched.
func lockable(t *testing.T) Machine {
	t.Helper()
	m := Machine{Root: t.TempDir()}
	require.NoError(t, os.Symlink("/proc", m.path("/proc")))
	return m
}

const sessionLock = "/run/user/1000/plimsoll/lock"

func TestOneAtATime(t *testing.T) {
	m := lockable(t)
	first, err := m.acquire(true, systemLock, "")
	require.NoError(t, err)
	for who, take := range map[string]func() (*turn, error){
		"root":   func() (*turn, error) { return m.acquire(true, systemLock, "") },
		"a user": func() (*turn, error) { return m.acquire(false, sessionLock, "") },
	} {
		_, err := take()
		var busy *BusyError
		if !errors.As(err, &busy) {
			t.Fatalf("%s beside root: %v", who, err)
		}
		if busy.PID != os.Getpid() || busy.Comm == "" || busy.File != systemLock || !strings.Contains(err.Error(), "wait") {
			t.Errorf("%s: %+v: %v", who, busy, err)
		}
	}
	first.release()
	first.release()
	user, err := m.acquire(false, sessionLock, "")
	require.NoError(t, err)
	if _, err := m.acquire(false, sessionLock, ""); err == nil {
		t.Error("a user measures twice")
	}
	// Nothing of a user's stops root, who is told of it.
	root, err := m.acquire(true, systemLock, "")
	if err != nil {
		t.Fatalf("a user's lock stops root: %v", err)
	}
	beside := m.others(systemLock)
	if beside == nil || beside.PID != os.Getpid() || beside.File != m.path(sessionLock) {
		t.Errorf("root sees %+v, want the user's lock", beside)
	}
	root.release()
	user.release()
	if beside := m.others(systemLock); beside != nil && beside.File == m.path(sessionLock) {
		t.Error("root sees a user who has ended")
	}
}

// The environment may be another machine's, as a batch job's is, or another user's, as
// after su; a home may be many machines'.
func TestWhereAUsersLockLies(t *testing.T) {
	m := Machine{Root: t.TempDir()}
	require.NoError(t, os.MkdirAll(m.path("/proc/sys/kernel"), 0o755))
	require.NoError(t, os.WriteFile(m.path("/proc/sys/kernel/hostname"), []byte("node 1/..\n"), 0o600))
	own, link := filepath.Join(t.TempDir(), "own"), filepath.Join(t.TempDir(), "link")
	shared := filepath.Join(t.TempDir(), "shared")
	require.NoError(t, os.Mkdir(own, 0o700))
	require.NoError(t, os.Symlink(own, link))
	require.NoError(t, os.Mkdir(shared, 0o700))
	require.NoError(t, os.Chmod(shared, 0o777))
	const here = "/plimsoll/on-node-1-/plimsoll/lock"
	session := filepath.Join("/run/user", strconv.Itoa(os.Geteuid()))
	for _, c := range []struct {
		what, want string
		env        map[string]string
		session    bool
	}{
		{"ours", own + "/plimsoll/lock", map[string]string{"XDG_RUNTIME_DIR": own, "HOME": "/home/u"}, true},
		{"of another machine", "/home/u/.local/state" + here, map[string]string{"XDG_RUNTIME_DIR": "/run/user/none", "HOME": "/home/u"}, false},
		{"which others may write to", "/home/u/.local/state" + here, map[string]string{"XDG_RUNTIME_DIR": shared, "HOME": "/home/u"}, false},
		{"by a link", "/home/u/.local/state" + here, map[string]string{"XDG_RUNTIME_DIR": link, "HOME": "/home/u"}, false},
		{"which is not absolute", "/state" + here, map[string]string{"XDG_RUNTIME_DIR": "not/absolute", "XDG_STATE_HOME": "/state", "HOME": "/home/u"}, false},
		{"not named, in a session", session + "/plimsoll/lock", map[string]string{"HOME": "/home/u"}, true},
		{"not named", "/home/u/.local/state" + here, map[string]string{"HOME": "/home/u"}, false},
		{"nor a home", "", nil, false},
	} {
		require.NoError(t, os.RemoveAll(m.path("/run/user")))
		if c.session {
			require.NoError(t, os.MkdirAll(m.path(session), 0o700))
		}
		got, err := m.userLock(func(name string) string { return c.env[name] })
		if got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("a runtime directory %s: %q, %v; want %q", c.what, got, err, c.want)
		}
	}
}

// An ordinary user can neither hold root's lock nor lay one in its way.
func TestNobodyHoldsRootsLock(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to look as another user does")
	}
	m := lockable(t)
	defer unix.Umask(unix.Umask(0o077))
	for _, old := range []bool{false, true} {
		if old { // as earlier versions made it
			require.NoError(t, os.Chmod(m.path(systemLock), 0o644))
		}
		root, err := m.acquire(true, systemLock, "")
		require.NoError(t, err)
		root.release()
		info, err := os.Stat(m.path(systemLock))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("everybody can open, and so hold, root's lock: %v (%v)", info.Mode(), err)
		}
		if info, err := os.Stat(filepath.Dir(m.path(systemLock))); err != nil || info.Mode().Perm() != 0o755 {
			t.Errorf("nobody can see whether root measures: %v (%v)", info.Mode(), err)
		}
	}
	// Any user's lock in the temporary directory, as they were once taken.
	dir := m.path("/tmp/plimsoll-1000")
	require.NoError(t, errors.Join(os.MkdirAll(dir, 0o777), os.Chown(dir, 12345, 12345)))
	f, err := os.Create(filepath.Join(dir, "lock"))
	require.NoError(t, err)
	defer f.Close()
	require.NoError(t, unix.Flock(int(f.Fd()), unix.LOCK_EX))
	root, err := m.acquire(true, systemLock, "")
	if err != nil {
		t.Fatalf("a lock in the temporary directory stops root: %v", err)
	}
	root.release()
}

func TestALockInSomebodyElsesDirectoryIsNotTaken(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to make a directory of another user")
	}
	m := lockable(t)
	dir := m.path("/tmp/plimsoll")
	require.NoError(t, errors.Join(os.MkdirAll(dir, 0o777), os.Chown(dir, 12345, 12345)))
	if _, err := m.acquire(false, "/tmp/plimsoll/lock", ""); err == nil {
		t.Error("the lock was taken")
	}
	// A link in place of the lock leads nowhere.
	other := filepath.Join(t.TempDir(), "target")
	require.NoError(t, os.MkdirAll(m.path("/run/plimsoll"), 0o755))
	require.NoError(t, os.Symlink(other, m.path(systemLock)))
	if _, err := m.acquire(true, systemLock, ""); err == nil || exists(other) {
		t.Errorf("a link was followed (%v)", err)
	}
}

func exists(p string) bool { _, err := os.Lstat(p); return err == nil }
