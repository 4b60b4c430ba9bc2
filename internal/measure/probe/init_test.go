package probe

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// startInit runs the verb init as PID 1 of a namespace of its own, with a
// /proc, and gives its first line.
func startInit(t *testing.T) (cmd *exec.Cmd, path, line string) {
	t.Helper()
	needRoot(t)
	tool(t, "nsenter")
	path = probePath(t)
	cmd = exec.Command("/bin/sh", "-c", "mount -t proc proc /proc && exec "+path+" init")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	if err := cmd.Start(); err != nil {
		t.Skipf("no PID namespace to be had: %v", err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err = bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("init said nothing: %v", err)
	}
	return cmd, path, line
}

// inside prepares a program for the namespaces of a process, as an engine's exec does.
func inside(t *testing.T, pid int, argv ...string) *exec.Cmd {
	t.Helper()
	return exec.CommandContext(t.Context(), tool(t, "nsenter"), append([]string{"-t", strconv.Itoa(pid), "-m", "-p", "--"}, argv...)...)
}

func TestInitEndsWhatRunsBesideIt(t *testing.T) {
	cmd, path, line := startInit(t)
	if p, err := ParsePayload([]byte(line), InitWord); err != nil || p.First == 0 {
		t.Errorf("%q: %v", line, err)
	}
	beside := inside(t, cmd.Process.Pid, PayloadArgs{Word: "w", Stay: true}.Argv(path)...)
	stdout, err := beside.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, beside.Start())
	said := make([]byte, 1)
	if _, err := io.ReadFull(stdout, said); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGPWR))
	rest, err := io.ReadAll(stdout)
	require.NoError(t, err)
	if p, err := ParsePayload(append(said, rest...), "w"); err != nil || p.Done == 0 {
		t.Errorf("the process beside init was not asked to end, or not waited for: %q, %v", rest, err)
	}
	if err := beside.Wait(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("init: %v", err)
	}
}

func TestInitReaps(t *testing.T) {
	cmd, _, _ := startInit(t)
	require.NoError(t, inside(t, cmd.Process.Pid, "/bin/sh", "-c", "sleep 0.05 & exit 0").Run())
	var left []string
	for range 1000 {
		out, err := inside(t, cmd.Process.Pid, "/bin/sh", "-c", "grep -l sleep /proc/[0-9]*/comm").Output()
		if left = strings.Fields(string(out)); err != nil && len(left) == 0 {
			return // grep found none
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("an orphan was not reaped: %v", left)
}

// The verb signals everybody in its namespace: elsewhere it must do nothing.
func TestInitRefusesToBeAnyOtherProcess(t *testing.T) {
	err := exec.Command(probePath(t), "init").Run()
	if got := fmt.Sprint(err); got != "exit status 64" {
		t.Errorf("init as an ordinary process: %s, want exit status 64", got)
	}
}
