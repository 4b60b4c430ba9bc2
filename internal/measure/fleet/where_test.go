package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/filelock"
	"plimsoll/internal/common/require"
)

// Several hosts may have one home: a run is of the host whose name or boot its folder has.
func TestElsewhere(t *testing.T) {
	name, boot := thisHost()
	h := &Here{t.TempDir()}
	for _, c := range []struct{ text, other string }{
		{"", ""}, {boot + "\n" + name + "\n", ""}, {boot + "\nrenamed\n", ""}, {"another-boot\n" + name + "\n", ""}, {"another-boot\nnode2\n", "node2"},
	} {
		if c.text != "" {
			require.NoError(t, os.WriteFile(h.path(whereName), []byte(c.text), 0o600))
		}
		if got := h.Elsewhere(); got != c.other {
			t.Errorf("%q: %q, want %q", c.text, got, c.other)
		}
		if err := h.OnThisHost(); (err == nil) != (c.other == "") || err != nil && !strings.Contains(err.Error(), "the run is on the host node2, and this is "+name) {
			t.Errorf("%q: %v", c.text, err)
		}
	}
	require.NoError(t, h.settle())
	if got := h.Elsewhere(); got != "" {
		t.Errorf("settled here: %q", got)
	}
}

// The run's process is ended by its lock: what has its number and not its lock is not ours.
func TestStop(t *testing.T) {
	h := &Here{t.TempDir()}
	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait() // killed
	}()
	pid := strconv.Itoa(other.Process.Pid)
	require.NoError(t, os.WriteFile(h.path(processName), []byte(pid+"\n"), 0o600))
	require.NoError(t, h.Stop()) // nobody has the lock
	require.NoError(t, h.signal(other.Process.Pid))
	time.Sleep(50 * time.Millisecond) // it would have ended by then
	if err := other.Process.Signal(unix.Signal(0)); err != nil || state(t, other.Process.Pid) == "Z" {
		t.Fatalf("a process that is not the run's was ended: %v", err)
	}
	lock, err := os.OpenFile(h.path(processName), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, filelock.TryLock(lock))
	require.NoError(t, h.Stop())
	for begin := time.Now(); state(t, other.Process.Pid) != "Z"; time.Sleep(time.Millisecond) {
		if time.Since(begin) > 10*time.Second {
			t.Fatal("the run's process was not asked to end")
		}
	}
}

// state is that of a process of ours, as the kernel has it.
func state(t *testing.T, pid int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(text), ") ")
	return rest[:1]
}
