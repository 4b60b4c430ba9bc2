package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func TestRequest(t *testing.T) {
	r := Request{Partition: "short", Account: "--uid=0", Nodes: 2, TasksPerNode: 4, Limit: 90 * time.Second, NodeList: "n[1-2]", Options: []string{"--constraint=haswell", "hint=nomultithread"}}
	require.NoError(t, r.Check())
	argv := r.argv("3vro44wx", "/d/jobs/job-%j.log", "/d/jobs/job.sh")
	for _, want := range []string{"--job-name=plimsoll-3vro44wx", "--comment=plimsoll run 3vro44wx", "--partition=short", "--account=--uid=0", "--nodes=2", "--ntasks-per-node=4", "--time=2", "--nodelist=n[1-2]", "--constraint=haswell", "--hint=nomultithread", "--exclusive", "--no-requeue", "--signal=B:TERM@10"} {
		if !slices.Contains(argv, want) {
			t.Errorf("%s is not in %q", want, argv)
		}
	}
	if argv[0] != "sbatch" || argv[len(argv)-1] != "/d/jobs/job.sh" {
		t.Errorf("%q", argv)
	}
	shared := Request{Nodes: 1, Options: []string{"oversubscribe"}}
	if argv := shared.argv("3vro44wx", "l", "s"); slices.Contains(argv, "--exclusive") {
		t.Errorf("%q", argv)
	}
	for _, bad := range []Request{
		{}, {Nodes: 1, TasksPerNode: -1}, {Nodes: 1, Limit: time.Second},
		{Nodes: 1, Options: []string{"job-name=other"}}, {Nodes: 1, Options: []string{"--array=1-10"}}, {Nodes: 1, Options: []string{"-N4"}},
		{Nodes: 1, Options: []string{"wrap=rm"}}, {Nodes: 1, Options: []string{"a b"}}, {Nodes: 1, Options: []string{"x=a\nb"}}, {Nodes: 1, Options: []string{""}},
	} {
		if err := bad.Check(); err == nil {
			t.Errorf("%+v may be asked for", bad)
		}
	}
}

// The script itself, without Slurm: it begins or goes on, hands a SIGTERM to
// the program once, and writes the program's status down, whatever the paths.
func TestScript(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a $HOME `dir`")
	jobs := filepath.Join(dir, "jobs")
	require.NoError(t, os.MkdirAll(jobs, 0o755))
	program := filepath.Join(dir, "the program")
	text := `#!/bin/sh
printf '%s\n' "$@" >"$(dirname "$0")/args"
[ "$1" = wait ] || exit 6
n=0
trap 'n=$((n + 1))' TERM
: >"$(dirname "$0")/waits"
while [ $n = 0 ]; do sleep 0.05; done
sleep 0.3
exit $((130 + n - 1))
`
	require.NoError(t, os.WriteFile(program, []byte(text), 0o755))
	s := Script{Run: "3vro44wx", Program: program, Dir: dir, Jobs: jobs, Begin: []string{"run", "a b", "--image=x'y"}, Resume: []string{"wait"}}
	script := filepath.Join(jobs, "job.sh")
	require.NoError(t, os.WriteFile(script, []byte(s.Text()), 0o755))
	start := func(job string) *exec.Cmd {
		cmd := exec.Command(script)
		cmd.Env = append(os.Environ(), "SLURM_JOB_ID="+job, "SLURMD_NODENAME=n1")
		require.NoError(t, cmd.Start())
		return cmd
	}
	end := func(cmd *exec.Cmd, job, want string) {
		t.Helper()
		_ = cmd.Wait() // its status is written down
		got, err := os.ReadFile(filepath.Join(jobs, "end-"+job))
		if string(got) != want+"\n" {
			t.Errorf("the job's end is %q, want %s: %v", got, want, err)
		}
	}
	end(start("1"), "1", "6")
	if args, _ := os.ReadFile(filepath.Join(dir, "args")); string(args) != "run\na b\n--image=x'y\n" {
		t.Errorf("%q", args)
	}
	// Once there is a record it goes on with that.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.json"), nil, 0o644))
	_ = os.Remove(filepath.Join(dir, "args"))
	cmd := start("2")
	for range 3000 {
		if _, err := os.Stat(filepath.Join(dir, "waits")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = cmd.Process.Signal(syscall.SIGTERM)
	end(cmd, "2", "130")

	s.Program = "/no/such/program"
	require.NoError(t, os.WriteFile(script, []byte(s.Text()), 0o755))
	end(start("3"), "3", "127")
}

func TestLedger(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	if Kept(dir) {
		t.Error("there is an account of nothing")
	}
	l, err := Open(dir)
	require.NoError(t, err)
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "another plimsoll follows") {
		t.Errorf("two follow: %v", err)
	}
	if asked, job, end := l.Last(); asked != nil || job != "" || end != nil {
		t.Error("there is a job")
	}
	for _, e := range []Entry{
		{Step: Submitting, Run: "3vro44wx", Request: &Request{Nodes: 2}, Begin: []string{"run", "quick"}},
		{Step: Submitted, Run: "3vro44wx", Job: "12"},
	} {
		require.NoError(t, l.Write(e))
	}
	require.NoError(t, l.Close())
	// A kill tears the line that is being written.
	f, err := os.OpenFile(filepath.Join(JobsDir(dir), ledgerFile), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	if _, err := f.WriteString(`{"step":"ended","run":"3vro`); err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	for range 2 {
		if l, err = Open(dir); err != nil {
			t.Fatal(err)
		}
		asked, job, end := l.Last()
		if asked == nil || asked.Request.Nodes != 2 || !slices.Equal(asked.Begin, []string{"run", "quick"}) || job != "12" || end != nil {
			t.Errorf("%+v %q %v", asked, job, end)
		}
		require.NoError(t, l.Close())
	}
	if l, err = Open(dir); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	require.NoError(t, l.Write(Entry{Step: Ended, Run: "3vro44wx", Job: "12", State: TimeOut, Trials: 57}))
	if all := entries(t, dir); len(all) != 3 || all[2].State != TimeOut || all[2].Trials != 57 {
		t.Errorf("%+v", all)
	}
	if _, _, end := l.Last(); end == nil {
		t.Error("it has no end")
	}
}
