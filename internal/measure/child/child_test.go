package child

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// script writes a program of this text and gives its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text+"\n"), 0o755))
	return path
}

// pidIn waits for the process id that a script writes into a file.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	for range 2000 {
		text, _ := os.ReadFile(path)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && strings.HasSuffix(string(text), "\n") {
			return pid
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("no process id in %s", path)
	return 0
}

// gone waits until a process has ended; a zombie has.
func gone(pid int) bool {
	for range 2000 {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" Z")) {
			return true
		}
		time.Sleep(5 * time.Millisecond)
	}
	return false
}

const long = 10 * time.Minute // nothing here takes so long but what hangs

// A wrapper whose child holds the pipe is ended with its child, and the error
// tells who hung, for how long, what it said and what to do.
func TestHung(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	path := script(t, "echo waiting for a lock >&2; sleep 600 & echo $! >"+file+"; wait")
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	_, err := Run(ctx, Command{Argv: []string{path, "--version"}, Limit: time.Second})
	var hung *HungError
	if !errors.As(err, &hung) || !errors.Is(err, context.DeadlineExceeded) || hung.Stuck || hung.After < time.Second {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{path + " --version` hung", "had not ended after ", "waiting for a lock", "run it by hand"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
	if pid := pidIn(t, file); !gone(pid) {
		t.Errorf("process %d of the hung program is there", pid)
	}
}

// The context's end ends it as the limit does: its deadline is a hang, its
// cancellation is not.
func TestContextEndsIt(t *testing.T) {
	path := script(t, "sleep 600; true")
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := Run(ctx, Command{Argv: []string{path}}); !isHung(err) {
		t.Errorf("deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	p, err := Start(ctx, Command{Argv: []string{path}})
	require.NoError(t, err)
	cancel()
	if _, err := p.Wait(); !errors.Is(err, context.Canceled) || isHung(err) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := Start(ctx, Command{Argv: []string{path}}); !errors.Is(err, context.Canceled) {
		t.Errorf("started though the context was over: %v", err)
	}
}

func isHung(err error) bool {
	var hung *HungError
	return errors.As(err, &hung)
}

// A program that has ended and whose child holds the pipe has answered: the
// answer counts, and the child is ended, unless it is meant to stay.
func TestChildHoldsThePipe(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		file := filepath.Join(t.TempDir(), "pid")
		out, err := Run(t.Context(), Command{Argv: []string{script(t, "sleep 600 & echo $! >"+file+"; echo 1.2.3")}, Leaves: leaves, Limit: long})
		if err != nil || string(out.Stdout) != "1.2.3\n" {
			t.Fatalf("%q %v", out.Stdout, err)
		}
		pid := pidIn(t, file)
		if leaves {
			if syscall.Kill(pid, 0) != nil {
				t.Error("what was meant to stay was ended")
			}
			_ = syscall.Kill(pid, syscall.SIGKILL) // it is looked for below
		}
		if !gone(pid) {
			t.Errorf("process %d is there", pid)
		}
	}
}

// One that leaves the group can't be ended by it, and keeps nobody waiting.
func TestOtherSessionHoldsThePipe(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("no setsid on this machine: ", err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	path := script(t, "setsid sh -c 'echo $$ >"+file+"; exec sleep 600' & wait")
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := Run(ctx, Command{Argv: []string{path}})
		done <- err
	}()
	pid := pidIn(t, file)
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }() // the test's own
	cancel()
	select {
	case err := <-done:
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it waits for a process that it does not own")
	}
}

// Nobody else's process is ended: neither a neighbour's nor one of our own group.
func TestNeighboursStay(t *testing.T) {
	neighbour := exec.Command("sleep", "600")
	require.NoError(t, neighbour.Start())
	defer func() {
		_ = neighbour.Process.Kill()
		_ = neighbour.Wait()
	}()
	_, _ = Run(t.Context(), Command{Argv: []string{script(t, "sleep 600; true")}, Limit: 100 * time.Millisecond})
	if err := neighbour.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a neighbour was ended: %v", err)
	}
}

func TestEndsAndOutput(t *testing.T) {
	out, err := Run(t.Context(), Command{Argv: []string{script(t, "echo out; echo err >&2; exit 3")}})
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || string(out.Stdout) != "out\n" || string(out.Stderr) != "err\n" {
		t.Errorf("%q %v", out, err)
	}
	out, err = Run(t.Context(), Command{Argv: []string{script(t, "echo 1; echo 2 >&2; echo 3")}, Together: true})
	if err != nil || string(out.Stdout) != "1\n2\n3\n" {
		t.Errorf("together: %q %v", out.Stdout, err)
	}
	var both bytes.Buffer
	_, err = Run(t.Context(), Command{Argv: []string{"cat"}, Stdin: strings.NewReader("given"), Stdout: &both, Stderr: &both})
	if err != nil || both.String() != "given" {
		t.Errorf("by writers: %q %v", both.String(), err)
	}
	if _, err := Run(t.Context(), Command{Argv: []string{"/no/such/program"}}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	out, err = Run(t.Context(), Command{Argv: []string{script(t, "ps -o pid=,pgid=,sid= -p $$; pwd; echo $A")}, Dir: "/", Env: []string{"A=b", "PATH=/usr/bin:/bin"}})
	lines := strings.Split(strings.TrimSpace(string(out.Stdout)), "\n")
	if err != nil || lines[len(lines)-2] != "/" || lines[len(lines)-1] != "b" {
		t.Errorf("%q %v", out.Stdout, err)
	}
}

// What is printed without end is not kept without end, and what is lost is told.
func TestOutputIsBounded(t *testing.T) {
	path := script(t, "head -c "+strconv.Itoa(maxOutput+1)+" /dev/zero; head -c 1000000 /dev/zero >&2; echo the end >&2")
	out, err := Run(t.Context(), Command{Argv: []string{path}})
	if err == nil || !strings.Contains(err.Error(), "printed more than") || len(out.Stdout) != maxOutput {
		t.Errorf("%d bytes, %v", len(out.Stdout), err)
	}
	if len(out.Stderr) != maxSaid || !bytes.HasSuffix(out.Stderr, []byte("the end\n")) {
		t.Errorf("%d bytes of its errors", len(out.Stderr))
	}
}

// With a grace it is asked to end, and may tidy up.
func TestGrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	var out bytes.Buffer
	p, err := Start(t.Context(), Command{Argv: []string{script(t, "trap 'echo tidied; exit 0' TERM; echo $$ >"+file+"; while :; do sleep 0.01; done")}, Grace: long, Stdout: &out})
	require.NoError(t, err)
	if pid := pidIn(t, file); pid != p.PID {
		t.Errorf("%d is not its process: %d", p.PID, pid)
	}
	p.End()
	if out.String() != "tidied\n" || p.State() == nil || p.State().ExitCode() != 0 {
		t.Errorf("%q %v", out.String(), p.State())
	}
}

// TestOutlives: what prints after its starter was killed goes on to its end where it is told
// to, and ends at its next word where not.
func TestOutlives(t *testing.T) {
	for _, outlives := range []bool{true, false} {
		done := filepath.Join(t.TempDir(), "done")
		program := script(t, "echo $$; sleep 0.3; echo more; echo yet more >&2; echo end > "+done+"; sleep 600")
		cmd := exec.Command(os.Args[0], "-test.run", "TestStarter", "-test.v")
		cmd.Env = append(os.Environ(), "PLIMSOLL_TEST_PROGRAM="+program, fmt.Sprint("PLIMSOLL_TEST_OUTLIVES=", outlives))
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		pid := 0
		for pid == 0 && lines.Scan() {
			pid, _ = strconv.Atoi(lines.Text())
		}
		if pid == 0 {
			t.Fatal("the starter started nothing")
		}
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait() // killed
		wrote := func() bool { _, err := os.Stat(done); return err == nil }
		for range 500 {
			if wrote() || syscall.Kill(pid, 0) != nil {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if wrote() != outlives {
			t.Errorf("outlives %v: it came to its end: %v", outlives, wrote())
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL) // it has ended
	}
}

// TestStarter is the one that TestOutlives kills.
func TestStarter(t *testing.T) {
	program := os.Getenv("PLIMSOLL_TEST_PROGRAM")
	if program == "" {
		return // nobody's to run but TestOutlives's
	}
	_, _ = Run(t.Context(), Command{Argv: []string{program}, Stdout: os.Stdout, Stderr: os.Stdout, Outlives: os.Getenv("PLIMSOLL_TEST_OUTLIVES") == "true"})
}
