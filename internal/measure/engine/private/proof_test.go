package private

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/thread"
)

// stranger is a user who has nothing to do with a run.
const stranger = 64998

func kitOfRoot(t *testing.T) *engine.Kit {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces and other users' processes need root")
	}
	return enginetest.Kit(t)
}

// canary is a process of somebody's that must outlive whatever is done.
type canary struct {
	what string
	cmd  *exec.Cmd
}

func let(t *testing.T, what string, uid int, env string, argv ...string) canary {
	t.Helper()
	c := canary{what, exec.Command(argv[0], argv[1:]...)}
	c.cmd.Env = []string{"PATH=" + os.Getenv("PATH"), env}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	require.NoError(t, c.cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-c.cmd.Process.Pid, syscall.SIGKILL)
		_ = c.cmd.Wait() // it was killed
	})
	return c
}

func (c canary) lives() bool {
	p, ok := readProcess(c.cmd.Process.Pid)
	return ok && p.State != 'Z' && p.State != 'X'
}

// spawn is a daemon with a child that has another session, no environment and
// no parent of ours.
const spawn = `setsid env -i sh -c '(sleep 600 & echo $! >"$1/orphan")' sh "$1"; touch "$1/ready"; exec sleep 600`

func startSpawner(t *testing.T, kit *engine.Kit, name string) (d *Daemon, orphan int) {
	t.Helper()
	d, err := Start(t.Context(), kit, Options{
		Name: name, Limit: 10 * time.Second, Grace: 100 * time.Millisecond,
		Configure: func(dir string) ([]string, error) { return []string{"/bin/sh", "-c", spawn, "sh", dir}, nil },
		Ready: func(_ context.Context, d *Daemon) error {
			_, err := os.Stat(filepath.Join(d.Dir, "ready"))
			return err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	text, err := os.ReadFile(filepath.Join(d.Dir, "orphan"))
	if err == nil {
		orphan, err = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	require.NoError(t, err)
	return d, orphan
}

func alive(pid int) bool {
	p, ok := readProcess(pid)
	return ok && p.State != 'Z' && p.State != 'X'
}

// TestForged: that somebody sets our variable marks nothing, neither the
// process nor the namespace that it is in.
func TestForged(t *testing.T) {
	kit := kitOfRoot(t)
	d, orphan := startSpawner(t, kit, "real")
	label := kit.RunID + "/real"
	guess := label + "/" + strings.Repeat("0", 2*secretBytes)
	canaries := []canary{
		let(t, "a process with the daemon's label", 0, markKey+"="+label, "sleep", "600"),
		let(t, "a user's process with a guessed secret", stranger, markKey+"="+guess, "sleep", "600"),
		let(t, "a process with the run's id", stranger, markKey+"="+kit.RunID+"/", "sleep", "600"),
		let(t, "a process in a mount namespace of its own", 0, markKey+"="+label, "unshare", "--mount", "sleep", "600"),
		let(t, "one with another beside it", 0, markKey+"="+label, "unshare", "--mount", "sh", "-c", "env -i sleep 600; true"),
		let(t, "one that has half of the secret", 0, markKey+"="+d.note.mark()[:len(d.note.mark())-2], "sleep", "600"),
		let(t, "one whose namespace has a mount like the seal", 0, "X=", "unshare", "--mount", "sh", "-c",
			"mount -t tmpfs "+d.note.sealSource()+" "+filepath.Join(d.Dir, sealDir)+" && sleep 600; true"),
	}
	removed, err := Sweep(t.Context(), kit.RunID, kit.Dir)
	if err != nil || len(removed) != 1 {
		t.Errorf("Sweep removed %v (%v), want the daemon", removed, err)
	}
	for _, pid := range []int{d.PID, orphan} {
		if alive(pid) {
			t.Errorf("the process %d of the daemon lives on", pid)
		}
	}
	for _, c := range canaries {
		if !c.lives() {
			t.Errorf("%s was killed", c.what)
		}
	}
}

// TestHostNamespace: whatever a note says, PID 1's mount namespace is none of
// ours, for a Plimsoll in another namespace too. Nothing is killed here.
func TestHostNamespace(t *testing.T) {
	kit := kitOfRoot(t)
	host, ok := mountNamespace("1")
	if !ok { // with fewer capabilities than PID 1 has, ours may not look; that it is ours too will do
		host, _ = mountNamespace("self")
	}
	n := newNote(kit.RunID, "host")
	n.Mount = host
	c := let(t, "", 0, markKey+"="+kit.RunID+"/host", "sleep", "600")
	err := thread.Own(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return err
		}
		if got := n.family(); len(got) != 0 {
			t.Errorf("a note of PID 1's namespace makes a family of %d processes", len(got))
		}
		return nil
	})
	require.NoError(t, err)
	if !c.lives() {
		t.Error("the canary has ended")
	}
	// Not even with a mount like the seal in it.
	point := filepath.Join(kit.Dir, sealDir)
	require.NoError(t, errors.Join(os.Mkdir(point, 0o700), unix.Mount(n.sealSource(), point, sealType, 0, "size=4k")))
	got := n.family()
	if err := unix.Unmount(point, 0); err != nil {
		t.Error(err)
	}
	if len(got) != 0 {
		t.Errorf("the machine's own namespace, with a mount like the seal, makes a family of %d processes", len(got))
	}
	// The namespace alone, without the seal, is no proof either.
	apart := let(t, "", 0, "X=", "unshare", "--mount", "sleep", "600")
	for range 2000 {
		if n.Mount, _ = mountNamespace(strconv.Itoa(apart.cmd.Process.Pid)); n.Mount != host {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n.Mount == host {
		t.Fatal("the canary has no namespace of its own: nothing is tried")
	}
	if got := n.family(); len(got) != 0 {
		t.Errorf("a namespace with the number that the note has, and no seal, makes a family: %v", got)
	}
}

// TestKilledBeforeThePID: the kill came when the daemon had begun and its pid
// was not noted yet.
func TestKilledBeforeThePID(t *testing.T) {
	kit := kitOfRoot(t)
	d, orphan := startSpawner(t, kit, "early")
	n := *d.note
	n.PID, n.Start = 0, ""
	require.NoError(t, n.write(d.Dir))
	if removed, err := Sweep(t.Context(), kit.RunID, kit.Dir); err != nil || len(removed) != 1 {
		t.Errorf("Sweep removed %v (%v), want the daemon", removed, err)
	}
	if alive(d.PID) || alive(orphan) {
		t.Error("the daemon lives on")
	}
}

// TestUsersDaemon: of a daemon that an ordinary user runs, and whose secret
// that user can therefore read, nothing is killed that the user may not kill.
func TestUsersDaemon(t *testing.T) {
	kit := kitOfRoot(t)
	user := &engine.User{Name: "stranger", UID: stranger, GID: stranger, Home: "/"}
	d, err := Start(t.Context(), kit, Options{
		Name: "users", User: user, UserDirs: []string{"own"}, OwnNamespaces: true, Limit: 10 * time.Second, Grace: 100 * time.Millisecond,
		Configure: func(dir string) ([]string, error) {
			return []string{"/bin/sh", "-c", `trap "" TERM; echo "hello"; mv "$1" "$1.mine"; touch "$1/own/ready"; while :; do sleep 1; done`, "sh", dir}, nil
		},
		Ready: func(_ context.Context, d *Daemon) error {
			_, err := os.Stat(filepath.Join(d.Dir, "own/ready"))
			return err
		},
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	var st unix.Stat_t
	for name, uid := range map[string]uint32{"": 0, "log": 0, noteFile: 0, "own": stranger} {
		if err := unix.Lstat(filepath.Join(d.Dir, name), &st); err != nil || st.Uid != uid {
			t.Errorf("%q in the daemon's directory is the user %d's (%v), want %d's", name, st.Uid, err, uid)
		}
	}
	if !strings.Contains(d.Log(1000), "hello") {
		t.Errorf("the log has %q", d.Log(1000))
	}
	// As though its pid were not noted yet.
	early := *d.note
	early.PID, early.Start = 0, ""
	if !slices.ContainsFunc(early.family(), func(p process) bool { return p.PID == d.PID }) {
		t.Error("the daemon is not known by its secret")
	}
	root := let(t, "a process of root's with the secret", 0, markKey+"="+d.note.mark(), "sleep", "600")
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if alive(d.PID) {
		t.Error("the daemon lives on")
	}
	if !root.lives() {
		t.Errorf("%s was killed", root.what)
	}
}

// TestForeignNote: a note that another than ourselves could have written says
// nothing, however it got there.
func TestForeignNote(t *testing.T) {
	kit := kitOfRoot(t)
	victim := filepath.Join(t.TempDir(), "empty")
	c := let(t, "the process that the note names", 0, "X=", "sleep", "600")
	p, _ := readProcess(c.cmd.Process.Pid)
	for what, plant := range map[string]func(dir, file string, text []byte) error{
		"a user's note": func(_, file string, text []byte) error {
			return errors.Join(os.WriteFile(file, text, 0o600), os.Chown(file, stranger, stranger))
		},
		"one that everybody may write to": func(_, file string, text []byte) error {
			return errors.Join(os.WriteFile(file, text, 0o600), os.Chmod(file, 0o666))
		},
		"one in a user's directory": func(dir, file string, text []byte) error {
			return errors.Join(os.WriteFile(file, text, 0o600), os.Chown(dir, stranger, stranger))
		},
		"a link": func(_, file string, text []byte) error {
			return errors.Join(os.WriteFile(victim+".json", text, 0o600), os.Symlink(victim+".json", file))
		},
		"a pipe": func(_, file string, _ []byte) error { return unix.Mkfifo(file, 0o600) },
		"one of another run": func(_, file string, text []byte) error {
			return os.WriteFile(file, []byte(strings.ReplaceAll(string(text), kit.RunID, "zzzzzzzz")), 0o600)
		},
	} {
		var st unix.Stat_t
		require.NoError(t, errors.Join(os.Mkdir(victim, 0o755), unix.Lstat(victim, &st)))
		n := newNote(kit.RunID, "d")
		n.PID, n.Start, n.Made = p.PID, p.StartText(), []madeAt{{Path: victim, Stage: victim + "-stage", ID: inodeOf(&st)}}
		text, err := json.Marshal(n)
		dir := filepath.Join(kit.Dir, folder, "d")
		require.NoError(t, errors.Join(err, os.MkdirAll(dir, 0o755), plant(dir, filepath.Join(dir, noteFile), text)))
		if removed, err := Sweep(t.Context(), kit.RunID, kit.Dir); err == nil || len(removed) != 0 {
			t.Errorf("%s: Sweep removed %v (%v), want an error", what, removed, err)
		}
		if !c.lives() {
			t.Fatalf("%s: %s was killed", what, c.what)
		}
		if err := os.Remove(victim); err != nil {
			t.Errorf("%s: the directory that the note names: %v", what, err)
		}
		require.NoError(t, errors.Join(os.RemoveAll(dir), os.RemoveAll(victim+".json")))
	}
}

// TestMade: a directory that was made to be hidden goes where it is that very
// one and empty, and stays where it is somebody else's.
func TestMade(t *testing.T) {
	kit := kitOfRoot(t)
	top := t.TempDir()
	d := &Daemon{kit: kit, note: newNote(kit.RunID, "m")}
	var err error
	if d.Dir, err = ownFolder(kit, "m"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ours", "replaced", "used", "before"} {
		d.opts.Hide = append(d.opts.Hide, filepath.Join(top, name))
	}
	before, replaced, used := filepath.Join(top, "before"), filepath.Join(top, "replaced"), filepath.Join(top, "used")
	require.NoError(t, os.Mkdir(before, 0o755))
	if _, err := d.hide(); err != nil {
		t.Fatal(err)
	}
	// A number that is free would be given to the next directory.
	err = errors.Join(os.Rename(replaced, replaced+".old"), os.Mkdir(replaced, 0o755), os.WriteFile(filepath.Join(used, "file"), nil, 0o600))
	// The kill came between the making of one and its place.
	stage := filepath.Join(top, ".plimsoll-"+kit.RunID+"-m-late")
	d.note.Made = append(d.note.Made, madeAt{Path: before, Stage: stage})
	require.NoError(t, errors.Join(err, os.Mkdir(stage, 0o711), d.note.write(d.Dir)))
	if removed, err := Sweep(t.Context(), kit.RunID, kit.Dir); err != nil || len(removed) != 1 {
		t.Fatalf("Sweep removed %v (%v)", removed, err)
	}
	entries, err := os.ReadDir(top)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got, want := fmt.Sprint(names), "[before replaced replaced.old used]"; got != want || err != nil {
		t.Errorf("there are %s (%v), want %s", got, err, want)
	}
}
