package probe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
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
)

const taskWordInTests = "0123456789abcdef"

// taskRun is a task that is carried out directly, as native does.
type taskRun struct {
	Task
	err    error
	status int
	stdout []byte
	stderr string
}

func taskCommand(t *testing.T, path string, args TaskArgs) *exec.Cmd {
	t.Helper()
	args.Word = taskWordInTests
	argv, err := args.Argv(path)
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
	return cmd
}

func finish(t *testing.T, cmd *exec.Cmd, err error, stdout []byte, stderr string) taskRun {
	t.Helper()
	if ee := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ee) {
		t.Fatal(err)
	}
	task, err := ParseTask(stdout, taskWordInTests)
	return taskRun{task, err, cmd.ProcessState.ExitCode(), stdout, stderr}
}

func runTask(t *testing.T, args TaskArgs) taskRun {
	t.Helper()
	cmd := taskCommand(t, probePath(t), args)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	return finish(t, cmd, err, stdout.Bytes(), stderr.String())
}

func step(kind TaskKind, argv ...string) TaskStep { return TaskStep{Kind: kind, Argv: argv} }

func shStep(kind TaskKind, script string) TaskStep { return step(kind, "sh", "-c", script) }

// left lists processes whose environment bears a mark.
func left(t *testing.T, mark string) (pids []string) {
	t.Helper()
	envs, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(t, err)
	for _, file := range envs {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(mark)) {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func TestTaskCarriesOutItsSteps(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a/b"
	l, err := net.Listen("tcp6", "[::]:0") // dual: both tables are read
	if err != nil {
		if l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
			t.Fatal(err)
		}
	}
	defer l.Close()
	r := runTask(t, TaskArgs{Report: true, Hash: true, Dir: dir, Steps: []TaskStep{
		shStep(TaskPrepare, "echo prepared; echo in >input"),
		shStep(TaskServe, "echo up >up; exec sleep 60"),
		{Kind: TaskFile, File: "up"},
		{Kind: TaskPort, Port: l.Addr().(*net.TCPAddr).Port},
		{Kind: TaskMain, Argv: []string{"cat"}, Input: "input"},
		{Kind: TaskMain, Argv: []string{"sh", "-c", "echo away; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; exit 3"}, Output: "output", Status: 3},
		shStep(TaskCleanup, "cat output; rm -f up"),
	}})
	if r.err != nil || r.status != 0 {
		t.Fatalf("%v, status %d\n%s%s", r.err, r.status, r.stdout, r.stderr)
	}
	if string(r.Output) != "in\n" || r.stderr != "prepared\naway\n" {
		t.Errorf("output %q, standard error %q", r.Output, r.stderr)
	}
	if r.Report["pid"] == "" || r.Report["uid_map"] == "" || r.Ready != 0 {
		t.Errorf("report %v", r.Report)
	}
	last := r.First
	var kinds []TaskKind
	for i, s := range r.Steps {
		kinds = append(kinds, s.Kind)
		want := 0
		switch i {
		case 1:
			want = 128 + int(syscall.SIGTERM)
		case 5:
			want = 3
		}
		if s.Index != i || s.Status != want || s.Errno != 0 || s.Begin < last || s.End < s.Begin || s.End > r.Done {
			t.Errorf("step %d: %+v", i, s)
		}
		last = s.Begin
	}
	if want := []TaskKind{TaskPrepare, TaskServe, TaskFile, TaskPort, TaskMain, TaskMain, TaskCleanup}; !slices.Equal(kinds, want) {
		t.Errorf("kinds %v", kinds)
	}
	if busy := r.Steps[5]; busy.UserNS == 0 || busy.UserNS+busy.SystemNS > 2*(busy.End-busy.Begin) || busy.MaxRSS < 100<<10 || busy.MaxRSS > 1<<30 {
		t.Errorf("what wait4 said: %+v", busy)
	}
	if server, cleanup := r.Steps[1], r.Steps[6]; server.End < r.Steps[5].End || server.End > cleanup.Begin {
		t.Errorf("the server was to be ended between the main steps and the cleanup: %+v", r.Steps)
	}
	program, err := exec.LookPath("sh")
	require.NoError(t, err)
	b, err := os.ReadFile(program)
	require.NoError(t, err)
	if sum := sha256.Sum256(b); r.Binary != hex.EncodeToString(sum[:]) {
		t.Errorf("the program's hash is %q, want %x", r.Binary, sum)
	}
	if _, err := os.Stat(dir + "/up"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the cleanup did not run: %v", err)
	}
}

// TestTaskHashes tries the lengths at which the last block becomes two.
func TestTaskHashes(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 55, 56, 63, 64, 65, 65535, 65536, 65536 + 56, 200000} {
		// A program that is no program: it is hashed all the same.
		b := bytes.Repeat([]byte{byte(n)}, n)
		file := fmt.Sprintf("%s/p%d", t.TempDir(), n)
		require.NoError(t, os.WriteFile(file, b, 0o755))
		r := runTask(t, TaskArgs{Hash: true, Steps: []TaskStep{step(TaskMain, file)}})
		if sum := sha256.Sum256(b); r.err != nil || r.Binary != hex.EncodeToString(sum[:]) || r.status != 127 || r.Steps[0].Errno != int(syscall.ENOEXEC) {
			t.Errorf("%d bytes: %+v", n, r)
		}
	}
	r := runTask(t, TaskArgs{Hash: true, Steps: []TaskStep{step(TaskMain, "/nowhere/at/all")}})
	if r.err != nil || r.Binary != "" || r.BinaryErrno != int(syscall.ENOENT) {
		t.Errorf("%+v", r)
	}
}

// TestTaskHandsOverAnyArgument has words of the encoding's own among them.
func TestTaskHandsOverAnyArgument(t *testing.T) {
	t.Parallel()
	args := []string{"", "main", "3", "--", "--status", "a\nb", "\x01\xff\\", "stay", strings.Repeat("x", maxTaskArg)}
	r := runTask(t, TaskArgs{Steps: []TaskStep{step(TaskMain, append([]string{"printf", `%s\0`}, args...)...), step(TaskMain, "printf", "end")}})
	if want := strings.Join(args, "\x00") + "\x00end"; r.err != nil || string(r.Output) != want {
		t.Errorf("%v: %.200q", r.err, r.Output)
	}
}

func TestTaskFailsWithItsStep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps         []TaskStep
		exit, at      int
		status, errno int
		begun         int
	}{
		"own status":  {[]TaskStep{shStep(TaskMain, "exit 9"), step(TaskMain, "true"), step(TaskCleanup, "true")}, 9, 0, 9, 0, 2},
		"not wanted":  {[]TaskStep{{Kind: TaskMain, Argv: []string{"true"}, Status: 1}}, 1, 0, 0, 0, 1},
		"signal":      {[]TaskStep{shStep(TaskMain, "kill -9 $$")}, 137, 0, 137, 0, 1},
		"not there":   {[]TaskStep{step(TaskMain, "no-such-program")}, 127, 0, -1, int(syscall.ENOENT), 1},
		"a directory": {[]TaskStep{step(TaskMain, "/")}, 127, 0, -1, int(syscall.EACCES), 1},
		"no input":    {[]TaskStep{{Kind: TaskMain, Argv: []string{"cat"}, Input: "/nowhere"}}, 127, 0, -1, int(syscall.ENOENT), 1},
		"no output":   {[]TaskStep{{Kind: TaskMain, Argv: []string{"cat"}, Output: "/nowhere/x"}}, 127, 0, -1, int(syscall.ENOENT), 1},
		"prepare":     {[]TaskStep{step(TaskPrepare, "false"), step(TaskMain, "true")}, 1, 0, 1, 0, 1},
		"server": {[]TaskStep{shStep(TaskServe, "sleep 0.02; exit 5"), {Kind: TaskFile, File: "/nowhere"}, step(TaskMain, "true")},
			5, 1, -1, int(syscall.ESRCH), 2},
		"server while it stays": {[]TaskStep{shStep(TaskServe, "sleep 0.02; exit 5"), {Kind: TaskStay}}, 5, 0, 5, 0, 2},
		"cleanup":               {[]TaskStep{step(TaskMain, "true"), step(TaskCleanup, "false")}, 0, 1, 1, 0, 2},
	} {
		r := runTask(t, TaskArgs{Steps: c.steps})
		if r.err != nil || r.status != c.exit || len(r.Steps) != c.begun {
			t.Errorf("%s: status %d, %v\n%s", name, r.status, r.err, r.stdout)
			continue
		}
		if s := r.Steps[c.at]; s.Status != c.status || s.Errno != c.errno {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// TestTaskOutputComesBack: whatever a workload prints is given back to the
// byte, and is never taken for a line of the task's.
func TestTaskOutputComesBack(t *testing.T) {
	t.Parallel()
	file := t.TempDir() + "/out"
	for _, text := range []string{
		"", "\n", "\n\n", "no end", "\r\n", "\x00\x00", "plimsoll 1 x done 5", "\nplimsoll 1 " + taskWordInTests,
		"\nplimsoll 1 " + taskWordInTests + " mark 00\n", "\nplimsoll 1 " + taskWordInTests + "-00 done 5\n",
		"\nplimsoll 1 fedcba9876543210 step 0 end 5 status 0\n", "k uid 77\n", "plimsoll done 5\n",
		strings.Repeat("0123456789abcde\n", 1<<18) + "half",
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		r := runTask(t, TaskArgs{Report: true, Steps: []TaskStep{step(TaskMain, "cat", file), step(TaskMain, "cat", file)}})
		if r.err != nil || string(r.Output) != text+text || r.Report["uid"] == "77" {
			t.Errorf("%.60q came back as %.60q, %v", text, r.Output, r.err)
		}
	}
}

// TestTaskCantBeForged: a workload that looks around finds the word, but not
// the mark.
func TestTaskCantBeForged(t *testing.T) {
	t.Parallel()
	r := runTask(t, TaskArgs{Steps: []TaskStep{shStep(TaskMain,
		`word=$(tr '\0' '\n' </proc/$PPID/cmdline | sed -n 3p); cat /proc/$PPID/cmdline /proc/$PPID/environ; env
		printf '\nplimsoll 1 %s mark %032d\n\nplimsoll 1 %s-%032d done 5\n\nplimsoll 1 %s done 5\n' $word 0 $word 0 $word; exit 3`)}})
	if r.err != nil || r.Done == 5 || r.Steps[0].Status != 3 || !bytes.Contains(r.Output, []byte("\nplimsoll 1 "+taskWordInTests+" done 5\n")) {
		t.Errorf("%+v", r)
	}
	_, rest, _ := strings.Cut(string(r.stdout), " mark ")
	if mark, _, _ := strings.Cut(rest, "\n"); len(mark) != 32 || bytes.Contains(r.Output, []byte(mark)) {
		t.Errorf("the mark %q in %q", mark, r.Output)
	}
}

// TestTaskEndsAllItStarted, though it is not PID 1: a server that goes into
// the background, one that ignores SIGTERM, what the main step leaves behind.
func TestTaskEndsAllItStarted(t *testing.T) {
	t.Parallel()
	tool(t, "setsid")
	cmd := taskCommand(t, probePath(t), TaskArgs{Dir: t.TempDir(), Steps: []TaskStep{
		shStep(TaskServe, `setsid sh -c 'trap "" TERM; touch deaf; echo $$ >&2; sleep 60; sleep 60' & exit 0`),
		shStep(TaskServe, `trap "exit 7" TERM; touch up; while :; do sleep 0.01; done`),
		{Kind: TaskFile, File: "up"},
		{Kind: TaskFile, File: "deaf"},
		shStep(TaskMain, "(sleep 60; echo never) & sleep 0.05; echo main"),
	}})
	mark := "PLIMSOLL_TASK_TEST=" + strconv.FormatInt(time.Now().UnixNano(), 36)
	cmd.Env = append(cmd.Env, mark)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	begin := time.Now()
	r := finish(t, cmd, cmd.Run(), stdout.Bytes(), "")
	if r.err != nil || r.status != 0 || string(r.Output) != "main\n" || r.Steps[0].Status != 0 || r.Steps[1].Status != 7 {
		t.Errorf("%v, status %d\n%s", r.err, r.status, r.stdout)
	}
	if took := time.Since(begin); took < 2*time.Second {
		t.Errorf("what ignores SIGTERM had %v, not 2 s", took)
	}
	if pids := left(t, mark); len(pids) > 0 {
		t.Errorf("still there: %v", pids)
	}
}

func TestTaskUsage(t *testing.T) {
	t.Parallel()
	path := probePath(t)
	for _, args := range []string{"", "w", "w --no", "w --dir", "w main", "w main 0", "w main 2 a", "w main x a", "w main --status 256 1 a",
		"w main --what 1 1 a", "w port 0", "w port 65536", "w port", "w file", "w nothing 1 a", "w" + strings.Repeat(" stay", 65),
		strings.Repeat("w", 129) + " stay"} {
		out, err := exec.CommandContext(t.Context(), path, append([]string{"task"}, strings.Fields(args)...)...).Output()
		if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != 64 || len(out) > 0 {
			t.Errorf("task %.60s: %v, want status 64 (%s)", args, err, out)
		}
	}
}
