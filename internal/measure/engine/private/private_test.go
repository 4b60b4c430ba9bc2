package private_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("PRIVATE_TEST_VICTIM"); dir != "" {
		victim(dir)
	}
	os.Exit(m.Run())
}

func rootKit(t *testing.T) *engine.Kit {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("namespaces and loop devices need root")
	}
	return enginetest.Kit(t)
}

// stubborn is a daemon that ignores SIGTERM, with a child of another session
// that does so too and a mount of its own. It says where it is by files.
const stubborn = `trap '' TERM
mkdir -p "$1/mnt" && mount -t tmpfs none "$1/mnt" && touch "$1/mnt/inside"
setsid sh -c 'trap "" TERM; echo $$ >"$1/child"; while :; do sleep 1; done' sh "$1" &
ip link show lo >"$1/lo"
echo "$TMPDIR" >"$1/tmp"
mkdir "/sys/fs/cgroup/memory/$2" 2>/dev/null || mkdir "/sys/fs/cgroup/$2"
touch "$1/ready"
while :; do sleep 1; done`

func stubbornOptions(kit *engine.Kit, name string) private.Options {
	group := "plimsoll-" + kit.RunID + "-test"
	return private.Options{
		Name: name, Limit: 10 * time.Second, Grace: 100 * time.Millisecond,
		Configure: func(dir string) ([]string, error) {
			return []string{"/bin/sh", "-c", stubborn, "sh", dir, group}, nil
		},
		Cgroups: []string{group},
		Ready: func(_ context.Context, d *private.Daemon) error {
			_, err := os.Stat(filepath.Join(d.Dir, "ready"))
			return err
		},
	}
}

func TestDaemon(t *testing.T) {
	kit := rootKit(t)
	d, err := private.Start(t.Context(), kit, stubbornOptions(kit, "stubborn"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	for _, ns := range []string{"net", "mnt"} {
		host, _ := os.Readlink("/proc/self/ns/" + ns)
		if own, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", d.PID, ns)); err != nil || own == host {
			t.Errorf("namespace %s: %s, the host's is %s (%v)", ns, own, host, err)
		}
	}
	if lo, err := os.ReadFile(filepath.Join(d.Dir, "lo")); err != nil || !strings.Contains(string(lo), "LOOPBACK,UP") {
		t.Errorf("loopback is not up: %s (%v)", lo, err)
	}
	if tmp, err := os.ReadFile(filepath.Join(d.Dir, "tmp")); err != nil || string(tmp) != d.Dir+"\n" {
		t.Errorf("what it writes for a while goes to %q, not into its own directory (%v)", tmp, err)
	}
	if _, err := os.Stat(filepath.Join(d.Dir, "mnt/inside")); err == nil {
		t.Error("a mount of the daemon shows on the host")
	}
	if _, err := os.Stat(d.Path(filepath.Join(d.Dir, "mnt/inside"))); err != nil {
		t.Errorf("the daemon's own mount is not seen through Path: %v", err)
	}
	child := pidIn(t, filepath.Join(d.Dir, "child"))
	if !running(child) {
		t.Fatal("the child does not run: nothing is tried")
	}
	for range 2 {
		if err := d.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	gone(t, kit, d.PID, child)
}

// gone demands that nothing of a kit's daemons is there.
func gone(t *testing.T, kit *engine.Kit, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if running(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	for _, pattern := range []string{"/sys/fs/cgroup/*" + kit.RunID + "*", "/sys/fs/cgroup/*/*" + kit.RunID + "*", kit.Dir + "/private"} {
		if left, _ := filepath.Glob(pattern); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	mounts, _ := os.ReadFile("/proc/self/mountinfo")
	if strings.Contains(string(mounts), kit.Dir) {
		t.Errorf("left behind: mounts below %s", kit.Dir)
	}
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), kit.Dir) {
			t.Errorf("left behind: %s of %s", f, b)
		}
	}
}

func TestFailures(t *testing.T) {
	kit := rootKit(t)
	never := func(context.Context, *private.Daemon) error { return errors.New("no answer") }
	for _, c := range []struct {
		name, script, says string
	}{
		{"ends", `echo "nothing but trouble" >&2; exit 3`, "nothing but trouble"},
		{"hangs", `echo "still thinking"; sleep 100`, "still thinking"},
	} {
		_, err := private.Start(t.Context(), kit, private.Options{Name: c.name, Argv: []string{"/bin/sh", "-c", c.script}, Ready: never, Limit: time.Second})
		var e *engine.Error
		if !errors.As(err, &e) || e.Class != record.Unavailable || !strings.Contains(e.Error(), c.says) {
			t.Errorf("%s: %v, want class %s and its words", c.name, err, record.Unavailable)
		}
		gone(t, kit)
	}
	if _, err := private.Start(t.Context(), kit, private.Options{Name: "absent", Argv: []string{"/nowhere/daemon"}, Ready: never}); err == nil {
		t.Error("a program that is not there has started")
	}
	gone(t, kit)
}

func TestFileSystems(t *testing.T) {
	kit := rootKit(t)
	for fs, size := range map[string]int64{"btrfs": 256 << 20, "xfs": 512 << 20, "ext4": 64 << 20} {
		t.Run(fs, func(t *testing.T) {
			if err := private.CanMake(kit, fs); err != nil {
				t.Skip(err)
			}
			f, err := private.MakeFileSystem(t.Context(), kit, "a", fs, size)
			require.NoError(t, err)
			var st unix.Statfs_t
			want := map[string]int64{"btrfs": unix.BTRFS_SUPER_MAGIC, "xfs": unix.XFS_SUPER_MAGIC, "ext4": unix.EXT4_SUPER_MAGIC}[fs]
			if err := unix.Statfs(f.Path, &st); err != nil || st.Type != want {
				t.Errorf("the file system at %s has the magic number %x (%v), want %x", f.Path, st.Type, err, want)
			}
			for range 2 {
				if err := f.Close(t.Context()); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			gone(t, kit)
		})
	}
	if _, err := private.MakeFileSystem(t.Context(), kit, "a", "btrfs", 1<<20); err == nil {
		t.Error("a btrfs of 1 MiB was made")
	}
	gone(t, kit)
}

// TestSees: a daemon sees the file system that it needs and does not hold
// another one of ours, which can be taken away while it runs.
func TestSees(t *testing.T) {
	kit := rootKit(t)
	if err := private.CanMake(kit, "ext4"); err != nil {
		t.Skip(err)
	}
	var fs [2]*private.FileSystem
	for i := range fs {
		f, err := private.MakeFileSystem(t.Context(), kit, "f"+strconv.Itoa(i), "ext4", 32<<20)
		require.NoError(t, err)
		t.Cleanup(func() { _ = f.Close(context.Background()) })
		fs[i] = f
	}
	o := stubbornOptions(kit, "sees")
	o.FileSystems = []string{fs[0].Path}
	o.Hide = []string{"/var/tmp"}
	d, err := private.Start(t.Context(), kit, o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close(context.Background()) })
	if _, err := os.Stat(d.Path(filepath.Join(fs[0].Path, "lost+found"))); err != nil {
		t.Errorf("the file system it needs: %v", err)
	}
	if err := os.WriteFile(d.Path("/var/tmp/plimsoll-"+kit.RunID), nil, 0o600); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/var/tmp/plimsoll-" + kit.RunID); err == nil {
		t.Error("a file in a hidden directory shows on the host")
	}
	if err := fs[1].Close(t.Context()); err != nil {
		t.Errorf("the file system it does not need: %v", err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := fs[0].Close(t.Context()); err != nil {
		t.Error(err)
	}
	gone(t, kit)
}

// victim is a process that dies by SIGKILL with a daemon and a file system.
func victim(dir string) {
	kit := &engine.Kit{RunID: filepath.Base(dir), Dir: dir, Root: true, Ledger: &kittest.Ledger{}, LookPath: exec.LookPath, Getenv: os.Getenv}
	f, err := private.MakeFileSystem(context.Background(), kit, "v", "ext4", 32<<20)
	if err == nil {
		o := stubbornOptions(kit, "victim")
		o.FileSystems = []string{f.Path}
		var d *private.Daemon
		if d, err = private.Start(context.Background(), kit, o); err == nil {
			b, _ := json.Marshal(d.PID)
			fmt.Println(string(b))
			select {}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

func TestSweep(t *testing.T) {
	kit := rootKit(t)
	if err := private.CanMake(kit, "ext4"); err != nil {
		t.Skip(err)
	}
	bystander := rootKit(t)
	other, err := private.Start(t.Context(), bystander, stubbornOptions(bystander, "victim"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = other.Close(context.Background()) })

	dead := *kit
	dead.Dir = filepath.Join(kit.Dir, kit.RunID)
	require.NoError(t, os.Mkdir(dead.Dir, 0o755))
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "PRIVATE_TEST_VICTIM="+dead.Dir)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var pid int
	_, err = fmt.Fscan(out, &pid)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	if err != nil || !running(pid) {
		t.Fatalf("no daemon has outlived its parent: %v", err)
	}
	child := pidIn(t, filepath.Join(dead.Dir, "private/victim/child"))
	removed, err := private.Sweep(t.Context(), dead.RunID, dead.Dir)
	if err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if len(removed) != 2 {
		t.Errorf("Sweep removed %v, want a daemon and a file system", removed)
	}
	gone(t, &dead, pid, child)
	if !running(other.PID) {
		t.Error("Sweep has ended the daemon of another run")
	}
	if removed, err := private.Sweep(t.Context(), dead.RunID, dead.Dir); err != nil || len(removed) != 0 {
		t.Errorf("Sweep for the second time: %v, %v", removed, err)
	}
}

func TestHostNetwork(t *testing.T) {
	if private.HostNetwork(engine.Spec{Levels: map[string]string{engine.Network: "host"}}) == nil || private.HostNetwork(engine.Spec{}) != nil {
		t.Error("host is refused, and nothing else")
	}
}

func pidIn(t *testing.T, file string) int {
	t.Helper()
	for range 1000 {
		b, _ := os.ReadFile(file)
		if n, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil {
			return n
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("there is no pid in %s", file)
	return 0
}

// running says whether a process runs; one that has ended and waits to be
// reaped does not.
func running(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	f := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	return len(f) > 0 && f[0] != "Z" && f[0] != "X"
}
