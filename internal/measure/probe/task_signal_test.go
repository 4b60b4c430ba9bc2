package probe

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plimsoll/internal/common/require"
)

// startTask starts a task and reads its output up to and with the text until.
func startTask(t *testing.T, cmd *exec.Cmd, until string) (said []byte, rest io.Reader) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	r := bufio.NewReader(out)
	for !bytes.Contains(said, []byte(until)) {
		line, err := r.ReadBytes('\n')
		said = append(said, line...)
		if err != nil {
			t.Fatalf("%v after %q", err, said)
		}
	}
	return said, r
}

// endTask reads the rest of a task's output.
func endTask(t *testing.T, cmd *exec.Cmd, said []byte, rest io.Reader) taskRun {
	t.Helper()
	more, err := io.ReadAll(rest)
	require.NoError(t, err)
	return finish(t, cmd, cmd.Wait(), append(said, more...), "")
}

func TestTaskHandsSIGTERMOn(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/cleaned"
	for _, c := range []struct {
		script string
		status int // of the step and the task
	}{
		{"echo here; sleep 60", 143},
		{"trap 'exit 4' TERM; echo here; while :; do sleep 0.01; done", 4},
	} {
		cmd := taskCommand(t, probePath(t), TaskArgs{Steps: []TaskStep{
			shStep(TaskMain, c.script), shStep(TaskMain, "echo next"), step(TaskCleanup, "touch", file),
		}})
		said, rest := startTask(t, cmd, "here\n")
		require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
		r := endTask(t, cmd, said, rest)
		if r.err != nil || r.status != c.status || r.Steps[0].Status != c.status || string(r.Output) != "here\n" || len(r.Steps) != 2 {
			t.Errorf("%v, status %d\n%s", r.err, r.status, r.stdout)
		}
		if err := os.Remove(file); err != nil {
			t.Errorf("no cleanup: %v", err)
		}
	}
}

// TestTaskLeavesOutWhatFollowsSIGTERM, also where the step itself does not mind.
func TestTaskLeavesOutWhatFollowsSIGTERM(t *testing.T) {
	t.Parallel()
	cmd := taskCommand(t, probePath(t), TaskArgs{Steps: []TaskStep{
		shStep(TaskMain, "trap 'exit 0' TERM; echo here; while :; do sleep 0.01; done"), shStep(TaskMain, "echo next"),
	}})
	said, rest := startTask(t, cmd, "here\n")
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	if r := endTask(t, cmd, said, rest); r.err != nil || r.status != 143 || len(r.Steps) != 1 || r.Steps[0].Status != 0 {
		t.Errorf("%v, status %d\n%s", r.err, r.status, r.stdout)
	}
}

// TestTaskAsPID1 has a server's container: it stays, reaps, and is stopped.
func TestTaskAsPID1(t *testing.T) {
	t.Parallel()
	needRoot(t)
	tool(t, "setsid")
	path := probePath(t)
	cmd := taskCommand(t, path, TaskArgs{Dir: t.TempDir(), Steps: []TaskStep{
		shStep(TaskServe, "setsid sleep 0.03 & trap 'exit 0' TERM; touch up; while :; do sleep 0.01; done"),
		{Kind: TaskFile, File: "up"},
		{Kind: TaskStay},
		shStep(TaskCleanup, "grep -h State /proc/[0-9]*/status >&2"),
	}})
	cmd.Path, cmd.Args = "/bin/sh", append([]string{"sh", "-c", `mount -t proc proc /proc && exec "$@"`, "sh"}, cmd.Args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS, Unshareflags: syscall.CLONE_NEWNS}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	said, rest := startTask(t, cmd, " ready ")
	half, err := ParseTask(said, taskWordInTests)
	if !errors.Is(err, ErrTorn) || half.Ready == 0 || half.Done != 0 {
		t.Errorf("while it runs: %+v, %v", half, err)
	}
	require.NoError(t, cmd.Process.Signal(syscall.SIGTERM))
	r := endTask(t, cmd, said, rest)
	if r.err != nil || r.status != 0 || r.Ready < r.Steps[2].Begin || r.Steps[0].Status != 0 {
		t.Errorf("%v, status %d\n%s", r.err, r.status, r.stdout)
	}
	if states := stderr.String(); strings.Contains(states, "Z") || strings.Count(states, "State") != 2 {
		t.Errorf("beside PID 1 and the cleanup itself there is: %s", states)
	}
}

// TestTaskKilled: what it had started dies with it, and the output is torn.
func TestTaskKilled(t *testing.T) {
	t.Parallel()
	cmd := taskCommand(t, probePath(t), TaskArgs{Steps: []TaskStep{shStep(TaskMain, "echo $$; exec sleep 60")}})
	said, rest := startTask(t, cmd, " main\n")
	line, err := rest.(*bufio.Reader).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	require.NoError(t, cmd.Process.Kill())
	r := endTask(t, cmd, append(said, line...), rest)
	if !errors.Is(r.err, ErrTorn) || string(r.Output) != line || r.Steps[0].End != 0 {
		t.Errorf("%+v", r)
	}
	gone(t, pid)
}

// TestTaskWithoutReader: its lines go nowhere, so it ends what it started.
func TestTaskWithoutReader(t *testing.T) {
	t.Parallel()
	tool(t, "setsid")
	mark := "PLIMSOLL_TASK_TEST=reader" + strconv.Itoa(os.Getpid())
	cmd := taskCommand(t, probePath(t), TaskArgs{Steps: []TaskStep{
		shStep(TaskPrepare, "setsid sleep 60 & exit 0"), shStep(TaskMain, "sleep 0.05"), shStep(TaskMain, "sleep 60"),
	}})
	cmd.Env = append(cmd.Env, mark)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	out.Close()
	err = cmd.Wait()
	if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 74 {
		t.Errorf("reader gone: %v, want status 74", err)
	}
	if pids := left(t, mark); len(pids) > 0 {
		t.Errorf("still there: %v", pids)
	}
}

// TestTaskWithoutProc: in a root of its own, with neither /proc nor /dev.
func TestTaskWithoutProc(t *testing.T) {
	t.Parallel()
	needRoot(t)
	root := t.TempDir()
	require.Reachable(t, root)
	b, err := os.ReadFile(probePath(t))
	require.NoError(t, err)
	// No child may be forked meanwhile that would hold it open for writing.
	syscall.ForkLock.RLock()
	err = os.WriteFile(root+"/p", b, 0o755)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)
	port, end := listenSlowly(t)
	defer end()
	cmd := taskCommand(t, "/p", TaskArgs{Report: true, Hash: true, Dir: "/work", Steps: []TaskStep{
		{Kind: TaskPort, Port: port}, step(TaskMain, "/p", "payload", "other"),
	}})
	cmd.Path = tool(t, "chroot")
	cmd.Args = append([]string{"chroot", root}, cmd.Args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	r := finish(t, cmd, cmd.Run(), stdout.Bytes(), stderr.String())
	if r.err != nil || r.status != 0 || r.Report["proc"] != "absent" || r.Binary == "" || !bytes.Contains(r.Output, []byte("plimsoll 1 other first")) {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.stderr, "/proc/net/tcp") {
		t.Errorf("it did not say that it connects: %q", r.stderr)
	}
}
