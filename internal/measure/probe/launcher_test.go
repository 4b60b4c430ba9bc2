package probe

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestPayloadThroughLauncher(t *testing.T) {
	l, path := startLauncher(t, Options{})
	for _, want := range []int{0, 3} {
		res := run(t, l, Job{Commands: []Command{{Argv: PayloadArgs{Word: "w0rd", Exit: want, Report: true}.Argv(path)}}})
		c := res.Commands[0]
		p, err := ParsePayload(c.Stdout, "w0rd")
		if err != nil {
			t.Fatalf("%v: %q %q %+v", err, c.Stdout, c.Stderr, c)
		}
		if got := syscall.WaitStatus(c.Status).ExitStatus(); got != want {
			t.Errorf("exit status %d, want %d", got, want)
		}
		order := []int64{c.Spawn, p.First, c.First, c.Exit}
		for i := 1; i < len(order); i++ {
			if order[i] < order[i-1] || order[i-1] == 0 {
				t.Errorf("stamps out of order: %v", order)
			}
		}
		if c.Exec < c.Spawn || p.Done < p.First || p.Done > c.Exit || res.Ready != c.First {
			t.Errorf("stamps do not fit: %+v %+v", c, p)
		}
		if c.Usage.UserNS+c.Usage.SystemNS < 0 || c.Usage.MaxRSS > 64<<20 {
			t.Errorf("usage %+v", c.Usage)
		}
		if res.TimedOut || len(res.Strays) != 0 {
			t.Errorf("result %+v", res)
		}
	}
}

func TestEnvironmentOfACommand(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	c := sh(t, `echo "$A|$(pwd)|$(ulimit -n)|$$"; ps -o pgid= -p $$ >/dev/null; cat /proc/self/status; ls /proc/self/fd >&2`)
	c.Env = append(c.Env, "A=b c")
	c.Dir = "/usr"
	c.Rlimits = []Rlimit{{Resource: syscall.RLIMIT_NOFILE, Soft: 100, Hard: 200}}
	res := run(t, l, Job{Commands: []Command{c}}).Commands[0]
	line, rest, _ := strings.Cut(string(res.Stdout), "\n")
	if !strings.HasPrefix(line, "b c|/usr|100|") {
		t.Errorf("saw %q (stderr %q)", line, res.Stderr)
	}
	for _, mask := range []string{"SigBlk", "SigIgn"} {
		if !strings.Contains(rest, mask+":\t0000000000000000") {
			t.Errorf("%s is not empty in a child:\n%s", mask, rest)
		}
	}
	if got := strings.Fields(string(res.Stderr)); len(got) != 4 { // 0 1 2 and the directory itself
		t.Errorf("descriptors in a child: %v", got)
	}
}

func TestUser(t *testing.T) {
	needRoot(t)
	l, path := startLauncher(t, Options{})
	res := run(t, l, Job{Commands: []Command{{
		Argv: PayloadArgs{Word: "w", Report: true}.Argv(path), SetUser: true, UID: 1234, GID: 2345, Groups: []int{3, 4},
	}}}).Commands[0]
	p, err := ParsePayload(res.Stdout, "w")
	if err != nil {
		t.Fatalf("%v: %+v", err, res)
	}
	if p.Report["uid"] != "1234" || p.Report["egid"] != "2345" || strings.Trim(p.Report["cap.eff"], "0") != "" {
		t.Errorf("report %v", p.Report)
	}
	c := sh(t, "id -G")
	c.SetUser, c.UID, c.GID, c.Groups = true, 1234, 2345, []int{3, 4}
	if got := string(run(t, l, Job{Commands: []Command{c}}).Commands[0].Stdout); got != "2345 3 4\n" {
		t.Errorf("groups %q", got)
	}
}

func TestStartFailures(t *testing.T) {
	l, path := startLauncher(t, Options{})
	missing := t.TempDir() + "/missing"
	for _, test := range []struct {
		name  string
		cmd   Command
		where string
		errno syscall.Errno
	}{
		{"exec", Command{Argv: []string{missing}}, "exec", syscall.ENOENT},
		{"not executable", Command{Argv: []string{"/etc/passwd"}}, "exec", syscall.EACCES},
		{"dir", Command{Argv: []string{path}, Dir: missing}, "chdir", syscall.ENOENT},
		{"cgroup", Command{Argv: []string{path}, Cgroups: []string{missing}}, "cgroup", syscall.ENOENT},
		{"pid file", Command{Argv: PayloadArgs{Word: "w"}.Argv(path), PidFile: missing}, "pid file", syscall.ENOENT},
		{"signal", Command{Signal: 15}, "kill", syscall.ESRCH},
	} {
		t.Run(test.name, func(t *testing.T) {
			res := run(t, l, Job{Commands: []Command{test.cmd, {Argv: []string{path}}, {Argv: PayloadArgs{Word: "clean"}.Argv(path), Always: true}}})
			c := res.Commands[0]
			if c.Where != test.where || syscall.Errno(c.Errno) != test.errno || c.Exit == 0 {
				t.Errorf("got %q %v", c.Where, syscall.Errno(c.Errno))
			}
			if next := res.Commands[1]; !next.Skipped || next.Spawn != 0 {
				t.Errorf("the next command was not skipped: %+v", next)
			}
			if _, err := ParsePayload(res.Commands[2].Stdout, "clean"); err != nil {
				t.Errorf("the command marked Always: %v", err)
			}
		})
	}
}

func TestJobsThatAreRefused(t *testing.T) {
	l, path := startLauncher(t, Options{})
	many := make([]Command, maxCommands+1)
	for i := range many {
		many[i].Argv = []string{path}
	}
	argv := []string{path}
	for name, job := range map[string]Job{
		"empty":       {},
		"many":        {Commands: many},
		"NUL":         {Commands: []Command{{Argv: []string{path, "a\x00b"}}}},
		"both":        {Commands: []Command{{Argv: argv, Signal: 1}}},
		"signal":      {Commands: []Command{{Signal: 65}}},
		"output":      {Commands: []Command{{Argv: argv}}, OutputLimit: maxPool},
		"huge":        {Commands: []Command{{Argv: []string{path, strings.Repeat("x", maxFrame)}}}},
		"overlay":     {Commands: []Command{{Argv: argv, Floor: &Floor{"/a:b", "/c", "/d", "/e", false, false}}}},
		"relative":    {Commands: []Command{{Argv: argv, Floor: &Floor{"a", "/c", "/d", "/e", false, false}}}},
		"calibration": {Commands: []Command{{Argv: argv, Calibrate: 1}}},
	} {
		if _, err := l.Run(context.Background(), job); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// The launcher is none the worse for it.
	run(t, l, Job{Commands: []Command{{Argv: argv}}})
}

func TestOutputLimit(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	c := sh(t, "head -c 300000 /dev/zero; head -c 50 /dev/zero >&2")
	res := run(t, l, Job{Commands: []Command{c}, OutputLimit: 1000}).Commands[0]
	if len(res.Stdout) != 1000 || len(res.Stderr) != 50 || res.Dropped != 299000 || res.Status != 0 {
		t.Errorf("kept %d and %d, dropped %d, status %d", len(res.Stdout), len(res.Stderr), res.Dropped, res.Status)
	}
	res = run(t, l, Job{Commands: []Command{c}, OutputLimit: 4 << 20}).Commands[0]
	if !bytes.Equal(res.Stdout, make([]byte, 300000)) || res.Dropped != 0 {
		t.Errorf("kept %d, dropped %d", len(res.Stdout), res.Dropped)
	}
}

func TestReadySignalExit(t *testing.T) {
	l, path := startLauncher(t, Options{})
	stay := PayloadArgs{Word: "w", Stay: true, Exit: 5}
	res := run(t, l, Job{Commands: []Command{
		{Argv: stay.Argv(path), Background: true},
		{Await: AwaitReady, Signal: int(syscall.SIGTERM)},
		{Await: AwaitGrace, Grace: 10 * time.Second, Signal: int(syscall.SIGKILL)},
		{Await: AwaitContainerExit, Argv: PayloadArgs{Word: "rm"}.Argv(path), Mute: true, Always: true},
	}})
	p, err := ParsePayload(res.Commands[0].Stdout, "w")
	if err != nil || p.Done == 0 {
		t.Fatalf("%v %+v", err, p)
	}
	if got := syscall.WaitStatus(res.Commands[0].Status).ExitStatus(); got != 5 {
		t.Errorf("status %d", got)
	}
	if s := res.Commands[1]; s.Errno != 0 || s.Spawn < res.Ready || s.Spawn > p.Done {
		t.Errorf("signal %+v, ready %d, done %d", s, res.Ready, p.Done)
	}
	if !res.Commands[2].Skipped {
		t.Error("the kill was not skipped")
	}
	if rm := res.Commands[3]; rm.Spawn < res.Commands[0].Exit || res.Ready != res.Commands[0].First {
		t.Errorf("removed at %d, exit at %d", rm.Spawn, res.Commands[0].Exit)
	}
}

// TestContainerIsThePayloadsCommand: create is mute, start --attach is not.
func TestContainerIsThePayloadsCommand(t *testing.T) {
	l, path := startLauncher(t, Options{})
	create := Command{Argv: PayloadArgs{Word: "id"}.Argv(path), Mute: true}
	res := run(t, l, Job{Commands: []Command{
		create,
		{Argv: PayloadArgs{Word: "w", Stay: true}.Argv(path), Background: true},
		{Await: AwaitReady, Signal: int(syscall.SIGTERM)},
		{Await: AwaitContainerExit},
	}})
	if res.Ready != res.Commands[1].First || res.Commands[0].First == 0 {
		t.Errorf("ready at %d, first bytes at %d and %d", res.Ready, res.Commands[0].First, res.Commands[1].First)
	}
	if s := res.Commands[2]; s.Errno != 0 || res.Commands[3].Spawn < res.Commands[1].Exit || res.TimedOut {
		t.Errorf("signal %+v, waited until %d, container's end %d", s, res.Commands[3].Spawn, res.Commands[1].Exit)
	}
}

func TestGraceThenKill(t *testing.T) {
	l, path := startLauncher(t, Options{})
	const grace = 30 * time.Millisecond
	res := run(t, l, Job{Commands: []Command{
		{Argv: PayloadArgs{Word: "w", Stay: true, OnTerm: "ignore"}.Argv(path), Background: true},
		{Await: AwaitReady, Signal: int(syscall.SIGTERM)},
		{Await: AwaitGrace, Grace: grace, Signal: int(syscall.SIGKILL)},
	}})
	if got := res.Commands[2].Spawn - res.Commands[1].Spawn; got < int64(grace) {
		t.Errorf("killed after %d ns", got)
	}
	if ws := syscall.WaitStatus(res.Commands[0].Status); ws.Signal() != syscall.SIGKILL {
		t.Errorf("status %v", ws)
	}
}

func TestReadyThatCannotCome(t *testing.T) {
	l, path := startLauncher(t, Options{})
	begin := time.Now()
	res := run(t, l, Job{Commands: []Command{
		sh(t, "exec >&-; sleep 0.01"),
		{Await: AwaitReady, Signal: 15},
		{Await: AwaitReady, Argv: []string{path, "delay", "0", "--", path}, Always: true},
	}})
	if !res.Commands[1].Skipped || res.Commands[2].Skipped || res.TimedOut || time.Since(begin) > 10*time.Second {
		t.Errorf("result %+v", res)
	}
}

func TestLimitKillsEverything(t *testing.T) {
	l, path := startLauncher(t, Options{})
	c := sh(t, `setsid sleep 1000 & echo $!; sleep 1000 & echo $!; echo $$; wait`)
	c.Background = true
	res := run(t, l, Job{Limit: 2 * time.Second, Commands: []Command{
		c,
		{Await: AwaitContainerExit, Argv: PayloadArgs{Word: "never"}.Argv(path)},
		{Await: AwaitContainerExit, Argv: PayloadArgs{Word: "clean"}.Argv(path), Always: true},
	}})
	if !res.TimedOut || !res.Commands[1].Skipped {
		t.Errorf("result %+v", res)
	}
	if _, err := ParsePayload(res.Commands[2].Stdout, "clean"); err != nil {
		t.Error(err)
	}
	pids := strings.Fields(string(res.Commands[0].Stdout))
	if len(pids) != 3 || len(res.Strays) != 0 {
		t.Fatalf("processes %v, strays %v", pids, res.Strays)
	}
	for _, s := range pids {
		pid, _ := strconv.Atoi(s)
		gone(t, pid)
	}
	run(t, l, Job{Commands: []Command{{Argv: []string{path}}}})
}

func TestStrays(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	res := run(t, l, Job{Commands: []Command{sh(t, `setsid sleep 1000 >/dev/null 2>&1 & echo $!`)}})
	pid, _ := strconv.Atoi(strings.TrimSpace(string(res.Commands[0].Stdout)))
	if len(res.Strays) != 1 || res.Strays[0] != pid {
		t.Fatalf("strays %v, want %d", res.Strays, pid)
	}
	// One that was there before is not the next job's to kill.
	next := run(t, l, Job{Limit: 100 * time.Millisecond, Commands: []Command{sh(t, "exec sleep 1000")}})
	if !next.TimedOut || len(next.Strays) != 1 {
		t.Errorf("next job: %+v", next)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("the stray: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	gone(t, pid)
}

// TestContainerByPidFile plays a runtime: the command ends and leaves a
// process behind, whose pid it has written down.
func TestContainerByPidFile(t *testing.T) {
	l, path := startLauncher(t, Options{})
	file := t.TempDir() + "/pid"
	argv := strings.Join(PayloadArgs{Word: "w", Stay: true, Exit: 7}.Argv(path), " ")
	create := sh(t, fmt.Sprintf("setsid %s & echo $! > %s", argv, file))
	create.PidFile = file
	res := run(t, l, Job{Commands: []Command{
		create,
		{Await: AwaitReady, Signal: int(syscall.SIGTERM)},
		{Await: AwaitContainerExit, Argv: PayloadArgs{Word: "rm"}.Argv(path), Mute: true, Always: true},
	}})
	p, err := ParsePayload(res.Commands[0].Stdout, "w")
	if err != nil || p.Done == 0 {
		t.Fatalf("%v: %+v", err, res)
	}
	if !res.ContainerReaped || syscall.WaitStatus(res.ContainerStatus).ExitStatus() != 7 || res.ContainerLate || res.Killed {
		t.Errorf("container %+v", res)
	}
	if res.ContainerExit < p.Done || res.ContainerExit > res.Commands[2].Spawn {
		t.Errorf("container's end %d is not between %d and %d", res.ContainerExit, p.Done, res.Commands[2].Spawn)
	}

	// A failing start leaves a container that nobody will end.
	res = run(t, l, Job{Commands: []Command{create, sh(t, "exit 1"), {Await: AwaitContainerExit}}})
	if !res.Killed || res.TimedOut || !res.Commands[2].Skipped || syscall.WaitStatus(res.ContainerStatus).Signal() != syscall.SIGKILL {
		t.Errorf("after a failure: %+v", res)
	}
	// One that has ended before its runtime has.
	quick := sh(t, fmt.Sprintf("setsid true & echo $! > %s; sleep 0.1", file))
	quick.PidFile = file
	res = run(t, l, Job{Commands: []Command{quick, {Await: AwaitContainerExit}}})
	if res.ContainerExit == 0 || res.Commands[1].Skipped {
		t.Errorf("quick container: %+v", res)
	}
}

func TestCalibrate(t *testing.T) {
	l, path := startLauncher(t, Options{})
	const rounds = 50
	res := run(t, l, Job{Commands: []Command{{
		Argv: PayloadArgs{Word: "w", Echo: true, Report: true}.Argv(path), Stdin: StdinPipe, Calibrate: rounds,
	}}})
	if len(res.Offsets) != rounds || res.TimedOut || res.Commands[0].Status != 0 {
		t.Fatalf("%d rounds, %+v", len(res.Offsets), res.Commands[0])
	}
	for _, e := range res.Offsets {
		if e.Sent > e.Inside || e.Inside > e.Received {
			t.Errorf("exchange out of order: %+v", e)
		}
	}
}

func TestCancel(t *testing.T) {
	l, path := startLauncher(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	clean := t.TempDir() + "/clean"
	c := sh(t, "echo > "+clean)
	c.Always = true
	_, err := l.Run(ctx, Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Stay: true, OnTerm: "ignore"}.Argv(path)}, c}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if _, err := os.Stat(clean); err != nil {
		t.Errorf("the clean-up was not run: %v", err)
	}
	run(t, l, Job{Commands: []Command{{Argv: []string{path}}}})
}

func TestManyJobs(t *testing.T) {
	l, path := startLauncher(t, Options{})
	fds := func(pid int) int {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
		require.NoError(t, err)
		return len(list)
	}
	job := Job{Commands: []Command{
		{Argv: PayloadArgs{Word: "w"}.Argv(path)},
		{Argv: []string{"/nonexistent"}, Stdin: StdinPipe},
	}}
	run(t, l, job)
	theirs, ours := fds(l.PID()), fds(os.Getpid())
	n := 1000
	if testing.Short() {
		n = 200
	}
	for range n {
		res := run(t, l, job)
		if _, err := ParsePayload(res.Commands[0].Stdout, "w"); err != nil {
			t.Fatal(err)
		}
	}
	if got := fds(l.PID()); got != theirs {
		t.Errorf("the launcher has %d descriptors, %d before", got, theirs)
	}
	if got := fds(os.Getpid()); got != ours {
		t.Errorf("we have %d descriptors, %d before", got, ours)
	}
}
