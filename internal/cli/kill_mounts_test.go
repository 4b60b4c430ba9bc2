package cli

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host/proc"
)

// TestKilledLeavesNoMounts kills a run of native and its launcher.
// What copies or backs up the state directory afterwards goes through whatever is mounted
// there: with a /proc in it, a backup has filled a disk from /proc/kcore.
func TestKilledLeavesNoMounts(t *testing.T) {
	if testing.Short() {
		t.Skip("asks a real engine: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native needs root")
	}
	dir, err := filepath.EvalSymlinks(t.TempDir()) // as the kernel names it
	require.NoError(t, err)
	p := &subject{t: t, dir: dir, out: filepath.Join(dir, "result")}
	state := filepath.Join(dir, "state")
	cmd := p.command("run", "--wait", "-o", p.out, "--force", "--progress", "none", "--engine", "native", "--image", "busybox",
		"--", "sh", "-c", "sleep 613 & wait")
	require.NoError(t, cmd.Start())
	orphan := 0
	for begin := time.Now(); orphan == 0 && time.Since(begin) < 2*time.Minute; time.Sleep(20 * time.Millisecond) { // it may wait for its turn
		orphan = rootedIn(t, state, "sleep 613")
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP)) // so that it does not clean up after its launcher
	for pid := orphan; pid > 1; {
		st, err := proc.Here.Stat(pid)
		if err == nil && st.PPID == cmd.Process.Pid { // pid is the launcher, which would end all below it
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		require.NoError(t, err)
		if pid = st.PPID; pid == cmd.Process.Pid {
			break
		}
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	if orphan == 0 || !alive(orphan) {
		t.Fatalf("no process of native's has outlived its run (pid %d): nothing is tried", orphan)
	}
	if points, err := proc.Here.MountedBelow(state); err != nil || len(points) > 0 {
		t.Errorf("mounted in the state directory after the kill: %q, %v", points, err)
	} else {
		copiesSmall(t, filepath.Join(state, "runs"))
	}
	if code, said := p.run("clean", "--wait"); code != 0 || alive(orphan) {
		t.Errorf("clean: status %d, the process %d lives: %v\n%s", code, orphan, alive(orphan), said)
	}
	if left, err := os.ReadDir(filepath.Join(state, "runs")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %d folders of runs, %v", len(left), err)
	}
}

// rootedIn is a process of this command line whose root directory lies in dir, or 0.
func rootedIn(t *testing.T, dir, line string) int {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	require.NoError(t, err)
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		argv, _ := proc.Here.Argv(pid) // it may have ended
		root, _ := os.Readlink("/proc/" + e.Name() + "/root")
		if strings.Join(argv, " ") == line && proc.Under(root, dir) {
			return pid
		}
	}
	return 0
}

// copiesSmall demands that a copy of a directory has its own files and directories only.
func copiesSmall(t *testing.T, dir string) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if out, err := exec.CommandContext(ctx, "cp", "-a", dir, to).CombinedOutput(); err != nil {
		t.Errorf("copying %s: %v: %s", dir, err, out)
	}
	var bytes int64
	var files []string
	require.NoError(t, filepath.WalkDir(to, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && !d.IsDir() {
			bytes += info.Size()
			files = append(files, path)
		}
		if err == nil && !d.IsDir() && !d.Type().IsRegular() {
			t.Errorf("the copy has %s (%s)", path, d.Type())
		}
		return err
	}))
	if bytes > 1<<20 || !slices.ContainsFunc(files, func(f string) bool { return filepath.Base(f) == "ledger.jsonl" }) {
		t.Errorf("the copy has %d bytes in %d files: %q", bytes, len(files), files)
	}
}
