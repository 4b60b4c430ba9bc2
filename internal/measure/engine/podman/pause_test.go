package podman

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// stranger is the user whose runtime directory the test plays.
const stranger = 64997

// world is a runtime directory of an ordinary user's: of the stranger's where
// we are root, else of our own.
type world struct {
	kit  *engine.Kit
	user *engine.User
	bin  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{kit: &engine.Kit{Root: os.Geteuid() == 0, Getenv: os.Getenv}, bin: t.TempDir()}
	w.user = &engine.User{Name: "u", UID: os.Getuid(), GID: os.Getgid(), RuntimeDir: t.TempDir()}
	if w.kit.Root {
		w.user.UID, w.user.GID = stranger, stranger
	}
	for _, dir := range []string{w.bin, w.user.RuntimeDir} {
		require.Reachable(t, dir)
	}
	for _, dir := range []string{"", "libpod", "libpod/tmp"} {
		dir = filepath.Join(w.user.RuntimeDir, dir)
		if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		require.NoError(t, os.Chown(dir, w.user.UID, w.user.GID))
	}
	return w
}

// program is sleep under another name.
func (w *world) program(t *testing.T, name string) string {
	t.Helper()
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(sleep)
	require.NoError(t, err)
	dir, err := os.MkdirTemp(w.bin, "") // a program that runs can't be written to
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o755); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	return path
}

// start starts a program as a user; apart in a user namespace of that one's.
func (w *world) start(t *testing.T, name string, uid int, apart bool) int {
	t.Helper()
	path := w.program(t, name)
	argv := []string{path, "600"}
	if apart {
		argv = append([]string{"unshare", "--user", "--"}, argv...)
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	if w.kit.Root {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	for range 4000 {
		exe, err := os.Readlink("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/exe")
		if exe == path {
			return cmd.Process.Pid
		}
		if errors.Is(err, fs.ErrNotExist) {
			break // it has ended
		}
		time.Sleep(5 * time.Millisecond)
	}
	if apart {
		t.Skip("no user namespace can be made here by an ordinary user")
	}
	t.Fatal("the program does not start")
	return 0
}

// say writes the user's file.
func (w *world) say(t *testing.T, pid int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.user.RuntimeDir, pauseFile), []byte(strconv.Itoa(pid)), 0o644); err != nil { //nolint:gosec // podman's has this mode
		t.Fatal(err)
	}
}

// TestPause: a pause process that was there before stays, one that this run
// has brought up goes. It is played by another program of that name: podman's
// locks belong to the user, whatever its directories, so that a second podman
// of the same user can't be brought up from nothing beside others.
func TestPause(t *testing.T) {
	w := newWorld(t)
	p := &program{user: w.user}
	before, after := New(), New()
	before.holdPause(w.kit, p)
	pid := w.start(t, "podman", w.user.UID, true)
	w.say(t, pid)
	after.holdPause(w.kit, p)
	ours, theirs := before.pauses[w.user.RuntimeDir], after.pauses[w.user.RuntimeDir]
	if ours.since == 0 || theirs.since != 0 {
		t.Errorf("whose pause process it is was not told right: since %d and %d", ours.since, theirs.since)
	}
	if err := after.letGo(t.Context(), w.kit, p); err != nil {
		t.Error(err)
	}
	if ended(pid) {
		t.Fatal("the pause process of somebody else was ended")
	}
	late := *ours
	late.since = ticks() + 1000
	if err := late.end(w.kit, w.user); err != nil || ended(pid) {
		t.Fatalf("a pause process that was there before was ended (%v)", err)
	}
	if err := ours.end(w.kit, w.user); err != nil || !ended(pid) {
		t.Errorf("our pause process still runs (%v)", err)
	}
	if _, err := os.Lstat(ours.file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its file is still there (%v)", err)
	}
}

// TestNoPause: whatever pid the user writes, no other process is ended.
func TestNoPause(t *testing.T) {
	w := newWorld(t)
	h := &pause{file: filepath.Join(w.user.RuntimeDir, pauseFile), since: 1}
	pids := map[string]int{
		"a program of another name":                      w.start(t, "something", w.user.UID, true),
		"a podman of the user's that holds no namespace": w.start(t, "podman", w.user.UID, false),
		"ourselves": os.Getpid(),
	}
	if w.kit.Root {
		pids["a podman of root's"] = w.start(t, "podman", 0, true)
		pids["a podman of another user's"] = w.start(t, "podman", stranger-1, true)
	}
	for what, pid := range pids {
		w.say(t, pid)
		if err := h.end(w.kit, w.user); err != nil || ended(pid) {
			t.Errorf("%s: it was ended (%v)", what, err)
		}
		if now, alive := h.process(w.kit, w.user); now != pid || !alive {
			t.Errorf("%s: the user's file was removed", what)
		}
	}
}

// TestPauseFile: what lies where podman keeps the pid is the user's to choose.
func TestPauseFile(t *testing.T) {
	w := newWorld(t)
	h := &pause{file: filepath.Join(w.user.RuntimeDir, pauseFile)}
	pid := w.start(t, "podman", w.user.UID, false)
	closed := filepath.Join(t.TempDir(), "closed")
	require.NoError(t, os.WriteFile(closed, []byte(strconv.Itoa(pid)), 0o600))
	for what, make := range map[string]func() error{
		"a pipe that nobody writes to": func() error { return unix.Mkfifo(h.file, 0o644) },
		"a directory":                  func() error { return os.Mkdir(h.file, 0o755) },
		"a link to a file of root's": func() error {
			if !w.kit.Root {
				return os.Symlink("/proc/self/mem", h.file)
			}
			return os.Symlink(closed, h.file)
		},
	} {
		require.NoError(t, make())
		if pid, alive := h.process(w.kit, w.user); alive {
			t.Errorf("%s: it gives the pid %d", what, pid)
		}
		require.NoError(t, os.Remove(h.file))
	}
}

// TestForgedService: a service of the run's has inherited the run's secret and has its
// socket in the run's folder, and is ended with its user's rights; a process that only
// has the words in its command line is left alone.
func TestForgedService(t *testing.T) {
	w := newWorld(t)
	if !w.kit.Root {
		t.Skip("other users' processes need root")
	}
	w.kit.RunID, w.kit.Dir = "abcd1234", t.TempDir()
	const mark = "LC_PLIMSOLL=abcd1234/0123456789abcdef"
	start := func(socket string, uid uint32, env ...string) int {
		// The shell's arguments stand for podman's.
		cmd := exec.Command("/bin/sh", "-c", "while :; do sleep 600; done", "podman", "system", "service", "--time=0", "unix://"+socket)
		cmd.Env = env
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		require.NoError(t, cmd.Start())
		t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); _ = cmd.Wait() })
		return cmd.Process.Pid
	}
	dir := filepath.Join(w.kit.Dir, serviceDir+w.kit.RunID+"-1")
	in := filepath.Join(dir, "podman.sock")
	ours := []int{start(in, 0, mark), start(in, stranger, mark), start(in, stranger, mark)}
	others := map[string]int{
		"a user's own service with such a name": start(filepath.Join(t.TempDir(), filepath.Base(in)), 0, mark),
		"another user's process":                start(in, stranger-1, mark),
		"a process without the secret":          start(in, 0),
		"one with another secret":               start(in, stranger, mark+"0"),
		"another service of the run's":          start(dir+"2/podman.sock", 0, mark),
	}
	for _, user := range []*engine.User{nil, w.user} {
		for _, l := range (&program{user: user, as: user, mark: mark}).services(engine.Thing{Kind: engine.KindProcess, Name: dir, Engine: "podman"}) {
			if err := l.Remove(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
	for range 2000 {
		if ended(ours[0]) && ended(ours[1]) && ended(ours[2]) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for _, pid := range ours {
		if !ended(pid) {
			t.Errorf("our service %d still runs", pid)
		}
	}
	for what, pid := range others {
		if ended(pid) {
			t.Errorf("%s was ended", what)
		}
	}
}
