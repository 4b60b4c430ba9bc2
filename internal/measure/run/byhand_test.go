package run

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// placer is a holder that keeps its containers' control groups at the top of one
// hierarchy, and whose helpers are called as other engines' are.
type placer struct {
	*holder
	top string
}

func (p placer) Info() engine.Info {
	i := p.holder.Info()
	i.Processes = engine.Processes{Helpers: []string{"conmon", "lxc", "runc", "exe", "pasta", "bwrap", "containerd-shim"}}
	return i
}

func (p placer) Places(t engine.Thing) []string {
	return []string{filepath.Join(p.top, "lxc.payload."+t.Name)}
}

// TestByHand: of cgroups, mounts and processes those go that the ledger names, that
// lie in the run's folder or that have inherited its secret; what is only named like
// the run's stays, and such processes are reported.
func TestByHand(t *testing.T) {
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
	if len(groups) == 0 || os.Geteuid() != 0 {
		t.Skip("making control groups and mounts needs root, and control groups of version 1")
	}
	top := filepath.Dir(groups[0])
	o := cleaning(t, placer{newHolder("idle"), top})
	id := record.NewRunID()
	dir := abandon(t, o.State, id)
	container := "plimsoll-" + id + "-3"
	flock := canary.Plant(t, &engine.Kit{}, id, "processes", "mounts", "links")
	alike := flock.Like(dir, container)
	mark, err := engine.Mark(dir, id)
	require.NoError(t, err)
	group := func(name string) string {
		t.Helper()
		g := filepath.Join(top, name)
		require.NoError(t, os.Mkdir(g, 0o755))
		t.Cleanup(func() { _ = os.Remove(g) })
		return g
	}
	ours, theirs := group("plimsoll-"+id+"-native"), group("plimsoll-"+id+"-of-a-user")
	forgotten := group("lxc.payload." + container) // of a container that its engine knows no more
	mount := func(at string) string {
		t.Helper()
		require.NoError(t, os.MkdirAll(at, 0o755))
		if err := unix.Mount("tmpfs", at, "tmpfs", 0, "size=4k"); err != nil {
			t.Skip("no mount can be made: ", err)
		}
		t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
		return at
	}
	mount(filepath.Join(dir, "view"))
	kept := mount(filepath.Join(t.TempDir(), "plimsoll-"+id))
	start := func(in string, argv0 string) *exec.Cmd {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sleep", "100")
		c.Args[0] = argv0
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
		require.NoError(t, os.WriteFile(filepath.Join(in, "cgroup.procs"), []byte(strconv.Itoa(c.Process.Pid)), 0))
		return c
	}
	// A helper that has left the run's control groups, and what it has started.
	helper := filepath.Join(t.TempDir(), "conmon")
	shell, err := exec.LookPath("sh")
	require.NoError(t, err)
	program, err := os.ReadFile(shell)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(helper, program, 0o755))
	monitor := exec.CommandContext(t.Context(), helper, "-c", "sleep 100 & wait")
	monitor.Env = append(os.Environ(), mark)
	require.NoError(t, monitor.Start())
	monitorEnded := make(chan struct{})
	go func() {
		_ = monitor.Wait() // it is killed; a zombie keeps its group
		close(monitorEnded)
	}()
	t.Cleanup(func() { _ = monitor.Process.Kill(); <-monitorEnded })
	var payload proc.Stat
	for began := time.Now(); payload.PID == 0 && time.Since(began) < 5*time.Second; {
		for _, pid := range proc.Here.PIDs() {
			if st, err := proc.Here.Stat(pid); err == nil && st.PPID == monitor.Process.Pid && st.Comm == "sleep" {
				payload = st
			}
		}
	}
	inOurs, inTheirs := start(ours, "sleep"), start(theirs, "plimsoll-"+id+"-1")

	l, err := OpenLedger(filepath.Join(dir, ledgerFile))
	require.NoError(t, err)
	for _, it := range []engine.Thing{{Kind: engine.KindCgroup, Name: ours}, {Kind: engine.KindLink, Name: "plm" + id},
		{Kind: engine.KindContainer, Name: container, Engine: "idle"}} {
		require.NoError(t, l.Made(it))
	}
	l.Close()
	ended := make(chan error, 1)
	go func() { ended <- inOurs.Wait() }() // a zombie keeps its group

	c, err := Clean(t.Context(), o, false)
	if err != nil || len(c.Kept) > 0 {
		t.Fatalf("%+v %v", c, err)
	}
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		t.Error("a process in a control group of the ledger still runs")
	}
	alike()
	flock.Check()
	select {
	case <-monitorEnded:
	case <-time.After(5 * time.Second):
		t.Error("a helper with the run's secret still runs")
	}
	if now, err := proc.Here.Stat(payload.PID); payload.PID == 0 || err == nil && now.Start == payload.Start && now.State != 'Z' {
		t.Errorf("what that helper has started still runs: %v", now)
	}
	if said := strings.Join(c.LeftAlone, "\n"); !strings.Contains(said, "lxc-notes") || !strings.Contains(said, "to end it: kill ") {
		t.Errorf("left alone: %q, want the user's lxc-notes with the command that ends it", said)
	}
	for _, gone := range []string{ours, dir, forgotten} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s is still there", gone)
		}
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error("a user's control group is gone")
	}
	if inTheirs.Process.Signal(unix.Signal(0)) != nil {
		t.Error("a user's process was ended")
	}
	if points, err := proc.Here.MountedBelow(kept); err != nil || len(points) != 1 {
		t.Errorf("a user's mount is gone: %v %v", points, err)
	}
	for _, r := range c.Removed {
		if strings.Contains(r, "of-a-user") {
			t.Errorf("removed %s", r)
		}
	}
}

// TestReleaseWithAMount: what is mounted in a run's folder is not deleted
// through.
func TestReleaseWithAMount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	s := State{t.TempDir()}
	dir := abandon(t, s, "abcd1234")
	precious := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(precious, "data"), nil, 0o644))
	at := filepath.Join(dir, "bound")
	require.NoError(t, os.Mkdir(at, 0o755))
	if err := unix.Mount(precious, at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no mount can be made: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	if err := s.Release("abcd1234"); err == nil || !strings.Contains(err.Error(), at) {
		t.Errorf("released with a mount: %v", err)
	}
	if _, err := os.Stat(filepath.Join(precious, "data")); err != nil {
		t.Error("what was mounted there was deleted")
	}
}

// bind mounts a directory with somebody's data at a new one.
func bind(t *testing.T, at string) (data string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	precious := t.TempDir()
	data = filepath.Join(precious, "data")
	require.NoError(t, errors.Join(os.WriteFile(data, nil, 0o644), os.MkdirAll(at, 0o755)))
	if err := unix.Mount(precious, at, "", unix.MS_BIND, ""); err != nil {
		t.Skip("no mount can be made: ", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(at, unix.MNT_DETACH) })
	return data
}

// TestMountsByALink: the kernel names a mount without the links that lead there; what is
// in the ledger by them is not taken for gone.
func TestMountsByALink(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	link := filepath.Join(top, "link")
	require.NoError(t, os.Symlink("real", link))
	data := bind(t, filepath.Join(top, "real/runs/abcd1234/view"))
	s := State{link}
	kit := &engine.Kit{RunID: "abcd1234", Dir: s.RunDir("abcd1234")}
	if _, err := finish(t.Context(), kit, engine.Thing{Kind: engine.KindMount, Name: filepath.Join(kit.Dir, "view")}); err == nil {
		t.Error("a mount is taken for gone")
	}
	require.NoError(t, os.WriteFile(filepath.Join(kit.Dir, ownerFile), []byte(`{"run":"abcd1234"}`), 0o644))
	if err := s.Release("abcd1234"); err == nil || !strings.Contains(err.Error(), "mounted") {
		t.Errorf("released with a mount: %v", err)
	}
	if _, err := os.Stat(data); err != nil {
		t.Error("what was mounted there was deleted")
	}
}

// TestFinishUnseen: a file that can't be looked at is not taken for gone.
func TestFinishUnseen(t *testing.T) {
	kit := &engine.Kit{RunID: "abcd1234", Dir: t.TempDir()}
	for name, gone := range map[string]bool{
		filepath.Join(t.TempDir(), "none"):           true,
		filepath.Join(t.TempDir(), "none/below"):     true,
		"/" + strings.Repeat("x", 300) + "/too-long": false, // ENAMETOOLONG, as EACCES or EIO would be
	} {
		_, err := finish(t.Context(), kit, engine.Thing{Kind: engine.KindFile, Name: name})
		if (err == nil) != gone {
			t.Errorf("%.40s: %v", name, err)
		}
	}
}

// TestClearDirs: a resumed run deletes what its earlier part left, and nothing through a
// mount.
func TestClearDirs(t *testing.T) {
	top := t.TempDir()
	data := bind(t, filepath.Join(top, "work/deep/bound"))
	require.NoError(t, errors.Join(os.WriteFile(filepath.Join(top, "probe"), nil, 0o755), os.WriteFile(filepath.Join(top, "work/file"), nil, 0o644)))
	dir, err := safepath.Open(top, safepath.Rule{})
	require.NoError(t, err)
	defer dir.Close()
	if err := clearDirs(dir); !errors.Is(err, safepath.ErrMounted) {
		t.Errorf("a mount is in the way: %v", err)
	}
	for path, stays := range map[string]bool{data: true, filepath.Join(top, "probe"): true, filepath.Join(top, "work/file"): false} {
		if _, err := os.Stat(path); (err == nil) != stays {
			t.Errorf("%s: %v", path, err)
		}
	}
}
