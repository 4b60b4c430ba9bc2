package probe

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// probePath extracts the probe for a test. PLIMSOLL_TEST_PROBE names another
// build of it instead, such as one with sanitizers.
func probePath(t testing.TB) string {
	t.Helper()
	if p := os.Getenv("PLIMSOLL_TEST_PROBE"); p != "" {
		return p
	}
	// A directory that other users may enter: some tests run it as one.
	dir, err := os.MkdirTemp("", "plimsoll-probe-test-")
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	require.NoError(t, os.Chmod(dir, 0o755))
	path, err := Extract(dir)
	require.NoError(t, err)
	return path
}

func startLauncher(t testing.TB, opts Options) (*Launcher, string) {
	t.Helper()
	path := probePath(t)
	l, err := Start(context.Background(), path, opts)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat("/proc/" + strconv.Itoa(l.PID())); err == nil {
			t.Errorf("launcher %d is still there after Close", l.PID())
		}
	})
	return l, path
}

func run(t testing.TB, l *Launcher, job Job) *JobResult {
	t.Helper()
	if job.Limit == 0 {
		job.Limit = 20 * time.Second
	}
	res, err := l.Run(context.Background(), job)
	require.NoError(t, err)
	return res
}

func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root: chroot, other users, mounts or cgroups")
	}
}

// gone waits until a process has ended or is a zombie.
func gone(t testing.TB, pid int) {
	t.Helper()
	for range 3000 {
		stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
		if err != nil {
			return
		}
		if _, rest, ok := strings.Cut(string(stat), ") "); ok && strings.HasPrefix(rest, "Z") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("process %d is still there", pid)
}

// tool finds a program that a test needs.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, dir := range []string{"/bin", "/usr/bin", "/sbin", "/usr/sbin"} {
		if _, err := os.Stat(dir + "/" + name); err == nil {
			return dir + "/" + name
		}
	}
	t.Skipf("no %s on this machine", name)
	return ""
}

func sh(t testing.TB, script string) Command {
	t.Helper()
	return Command{Argv: []string{tool(t, "sh"), "-c", script}, Env: []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}}
}
