package cgroup

import (
	"errors"
	"maps"
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
	"plimsoll/internal/measure/engine"
)

// account is a ledger that only counts.
type account struct{ things map[engine.Thing]bool }

func (a account) Made(t engine.Thing) error { a.things[t] = true; return nil }
func (a account) Gone(t engine.Thing) error { delete(a.things, t); return nil }
func (a account) Left() []engine.Thing      { return slices.Collect(maps.Keys(a.things)) }

// below makes a group with limits, and in each of its hierarchies one below it
// that has none, as an engine does for its container.
func below(t *testing.T, runID string, limits engine.Limits) (c *Cgroup, child []string) {
	t.Helper()
	l := account{map[engine.Thing]bool{}}
	c, err := New(&engine.Kit{RunID: runID, Ledger: l}, "below", limits)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := c.Remove(t.Context()); err != nil {
			t.Error(err)
		}
		if left := l.Left(); len(left) != 0 {
			t.Errorf("left: %v", left)
		}
	})
	if len(c.dirs) == 0 {
		t.Skipf("no limits can be set here: %s", c.Facts()[LimitsWhy])
	}
	for _, d := range c.dirs {
		dir := filepath.Join(d.path, "container")
		require.NoError(t, os.Mkdir(dir, 0o755))
		child = append(child, dir)
	}
	return c, child
}

// joined is a shell that moves into groups and then becomes the command.
func joined(groups []string, command ...string) *exec.Cmd {
	script := ""
	for _, g := range groups {
		script += "echo $$ > " + g + "/cgroup.procs && "
	}
	return exec.Command("sh", append([]string{"-c", script + `exec "$@"`, "sh"}, command...)...)
}

// A container in a group below ours lives under our limits.
func TestInForceInAChildGroup(t *testing.T) {
	_, child := below(t, "wrapbelo", both)
	sleep := joined(child, "sleep", "60")
	require.NoError(t, sleep.Start())
	defer func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	}()
	groups := map[string]string{}
	for range 2000 { // until it has moved
		text, err := os.ReadFile("/proc/" + strconv.Itoa(sleep.Process.Pid) + "/cgroup")
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if f := strings.SplitN(strings.TrimSpace(line), ":", 3); len(f) == 3 {
				groups[f[1]] = f[2]
			}
		}
		if strings.Count(string(text), "/container\n") == len(child) {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if got := InForce(sleep.Process.Pid); got != both {
		t.Errorf("in force are %+v, want %+v", got, both)
	}
	_ = sleep.Process.Kill()
	_ = sleep.Wait()
	for _, dir := range child { // as an engine does: what is above still tells
		require.NoError(t, os.Remove(dir))
	}
	got := InForceAt(groups)
	if got.Limits != both || !strings.Contains(got.MemoryAt, "plimsoll-wrapbelo-below") || strings.Contains(got.MemoryAt, "container") {
		t.Errorf("in force were %+v, want %+v", got, both)
	}
}

// A container in a group below ours that the kernel kills for want of memory
// is seen to be, whether its group is still there or was removed with it; one
// that is killed otherwise is not.
func TestOOMInAChildGroup(t *testing.T) {
	c, child := below(t, "wrapoomb", engine.Limits{MemoryBytes: 24 << 20})
	for _, x := range []struct {
		name    string
		command []string
		removed bool
		want    bool
	}{
		{"killed by somebody", []string{"sh", "-c", "kill -9 $$"}, true, false},
		{"killed, and its group removed", []string{"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"}, true, true},
		{"killed, and its group is there", []string{"dd", "if=/dev/zero", "of=/dev/null", "bs=64M", "count=1"}, false, true},
	} {
		watch := c.OOMWatch()
		err := joined(child, x.command...).Run()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%s: it ended with %v", x.name, err)
		}
		if x.removed {
			for _, dir := range child {
				require.NoError(t, os.Remove(dir))
			}
		}
		if got := watch(); got != x.want {
			t.Errorf("%s: out of memory is %v, want %v", x.name, got, x.want)
		}
		if x.removed {
			for _, dir := range child {
				require.NoError(t, os.Mkdir(dir, 0o755))
			}
		}
	}
	if n, ok := c.oomKills(); !ok || n < 1 {
		t.Errorf("%d kills are counted, %v", n, ok)
	}
}
