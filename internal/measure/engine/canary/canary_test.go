//go:build !unit

package canary_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/canary"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/measure/host/proc"
)

// planter says to a process of the test's own that it is to plant and wait.
const planter = "PLIMSOLL_PLANTS_AND_WAITS"

// planted is what it says then.
const planted = "all is planted"

// TestPlant: canaries live until they are taken away, and a machine without
// engines has some too. A planter that was killed takes nothing away, and the next
// one does all of it.
func TestPlant(t *testing.T) {
	kit := enginetest.Kit(t)
	if os.Getenv(planter) != "" {
		plantAndWait(t, kit)
		return
	}
	pid, cats := plantAndDie(t)
	steps, err := canary.Ledgers(pid)
	require.NoError(t, err)
	if len(steps) < 8 {
		t.Errorf("a planter that was killed has written down %d steps: they show little", len(steps))
	}
	f := canary.Plant(t, kit, kit.RunID, "files", "cgroups", "processes", "mounts", "links")
	for _, s := range steps {
		if s.There(t.Context()) {
			t.Errorf("what a planter that was killed has left is still there: %s", s.What)
		}
	}
	if steps, err = canary.Ledgers(pid); err != nil || len(steps) > 0 {
		t.Errorf("the ledgers of a planter that was killed are still there, with %d steps: %v", len(steps), err)
	}
	for _, cat := range cats {
		if now, err := proc.Here.Stat(cat.PID); err == nil && now.Start == cat.Start && now.State != 'Z' {
			t.Errorf("process %d of a planter that was killed is still there", cat.PID)
		}
	}
	f.State(t.TempDir())
	f.Check()
}

func plantAndWait(t *testing.T, kit *engine.Kit) {
	t.Helper()
	f := canary.Plant(t, kit, kit.RunID)
	if f.Check(); t.Failed() {
		return
	}
	fmt.Println(planted)
	select {} // until it is killed
}

// plantAndDie lets another process plant, and kills it. It had these processes.
func plantAndDie(t *testing.T) (pid int, had []proc.Stat) {
	t.Helper()
	tmp := t.TempDir()
	// As /tmp is: an ordinary user's engine reads and writes there.
	require.Reachable(t, tmp)
	require.NoError(t, os.Chmod(tmp, 0o777|os.ModeSticky))
	require.NoError(t, os.Symlink(imagetest.ImageDir(), filepath.Join(tmp, filepath.Base(imagetest.ImageDir()))))
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPlant$")
	cmd.Env = append(os.Environ(), planter+"=1", "TMPDIR="+tmp)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	var said strings.Builder
	for in := bufio.NewScanner(out); in.Scan() && in.Text() != planted; {
		said.WriteString(in.Text() + "\n")
	}
	for _, p := range proc.Here.PIDs() {
		if st, err := proc.Here.Stat(p); err == nil && st.PPID == cmd.Process.Pid {
			had = append(had, st)
		}
	}
	if len(had) < 3 {
		t.Errorf("the planter had only the processes %v", had)
	}
	_ = cmd.Process.Kill() // where it has ended, the state says how
	_ = cmd.Wait()
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		t.Fatalf("the planter ended by itself: %v\n%s", cmd.ProcessState, said.String())
	}
	return cmd.Process.Pid, had
}
