//go:build linux

package cli

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

// TestHangUp loses whoever watches a run on real engines: the run ends after
// the trial in flight as by SIGINT, leaves nothing, and can be gone on with.
func TestHangUp(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real engines: left out with -short")
	}
	for _, c := range []struct {
		name string
		// begin starts the program, and gives what takes the watcher away.
		begin func(t *testing.T, cmd *exec.Cmd) (lose func())
	}{
		{"SIGHUP", func(t *testing.T, cmd *exec.Cmd) func() {
			start(t, cmd)
			return func() { _ = cmd.Process.Signal(syscall.SIGHUP) } // where it has ended the status says so
		}},
		{"a closed pipe", func(t *testing.T, cmd *exec.Cmd) func() {
			r, w, err := os.Pipe()
			require.NoError(t, err)
			cmd.Stdout, cmd.Stderr = w, w
			start(t, cmd)
			w.Close()
			go func() { _, _ = io.Copy(io.Discard, r) }() // until it is closed
			return func() { r.Close() }
		}},
		{"a terminal that is gone", func(t *testing.T, cmd *exec.Cmd) func() {
			master, slave := pseudoTerminal(t)
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			start(t, cmd)
			slave.Close()
			go func() { _, _ = io.Copy(io.Discard, master) }() // until it is closed
			return func() { master.Close() }
		}},
		{"a terminal that is gone, SIGHUP ignored", func(t *testing.T, cmd *exec.Cmd) func() {
			// As below nohup with an output of one's own: only writing tells.
			master, slave := pseudoTerminal(t)
			cmd.Args = append([]string{"sh", "-c", `trap "" HUP; exec plimsoll "$@"`, "sh"}, cmd.Args[1:]...)
			cmd.Path, cmd.Err = "/bin/sh", nil
			cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			start(t, cmd)
			slave.Close()
			go func() { _, _ = io.Copy(io.Discard, master) }() // until it is closed
			return func() { master.Close() }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "SIGHUP" && signal.Ignored(syscall.SIGHUP) {
				t.Skip("the tests run below nohup, and so does what they start")
			}
			dir := t.TempDir()
			p := &subject{t: t, dir: dir, out: filepath.Join(dir, "result")}
			study := filepath.Join(dir, "long.yaml")
			text := strings.Replace(killedStudy(t, p), "blocks: 8, warmup: 1", "blocks: 5000, warmup: 0", 1)
			require.NoError(t, os.WriteFile(study, []byte(text), 0o644))
			before, err := host.Machine{}.Census(t.Context())
			require.NoError(t, err)
			cmd := p.command("run", "--wait", study, "-o", p.out, "--force", "--progress", "json")
			t.Cleanup(func() {
				if t.Failed() { // nothing stays on the machine
					code, said := p.run("clean", "--wait")
					t.Logf("clean: status %d\n%s", code, said)
				}
			})
			lose := c.begin(t, cmd)
			p.awaitTrial()
			lose()
			_ = cmd.Wait() // the status is looked at below
			if code := cmd.ProcessState.ExitCode(); code != int(Interrupted) {
				t.Errorf("it ended with %v, want status %d", cmd.ProcessState, Interrupted)
			}
			p.nothingLeft(before)
			p.failures()
			w, run, err := record.Resume(p.out)
			require.NoError(t, err)
			defer w.Close()
			if n := len(w.Complete()); run.Status != "interrupted" || len(run.Residue) > 0 || n == 0 || n != run.Sum.Trials {
				t.Errorf("the record is %s, with %d trials and %q left behind", run.Status, n, run.Residue)
			}
		})
	}
}

func start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		if cmd.ProcessState == nil { // the test was broken off
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
}

// awaitTrial waits until trials are recorded.
func (p *subject) awaitTrial() {
	p.t.Helper()
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		info, err := os.Stat(filepath.Join(p.out, record.TrialsFile))
		if err == nil && info.Size() > 0 {
			return
		}
		if time.Since(begin) > 3*time.Minute { // it may wait for its turn
			p.t.Fatal("no trial was recorded in three minutes")
		}
	}
}

// pseudoTerminal makes a terminal, see pty(7).
func pseudoTerminal(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminal can be made here: %v", err)
	}
	t.Cleanup(func() { master.Close() })
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	require.NoError(t, err)
	return master, slave
}
