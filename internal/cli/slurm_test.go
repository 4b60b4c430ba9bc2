package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/slurm"
	"plimsoll/internal/record"
)

// atSite is given by make test-site: what waits for nodes to die and for time
// limits takes minutes.
var atSite = flag.Bool("site", os.Getenv("PLIMSOLL_SITE") == "1", "run the tests of a cluster that take longer, too")

// onCluster is an ordinary user at the login node of the lab's Slurm, whose home
// all nodes share.
type onCluster struct {
	t    *testing.T
	dir  string // the home
	user *syscall.Credential
	env  []string
}

// labRun is where the lab keeps what is up.
func labRun() string {
	if d := os.Getenv("PLIMSOLL_LAB_RUN"); d != "" {
		return d
	}
	return "/run/plimsoll-lab"
}

// cluster is a user of the lab's Slurm with a home at a place there.
func cluster(t *testing.T, place string) *onCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("runs jobs on the lab's Slurm: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("the user of the lab's Slurm is not ourselves, so that it takes root")
	}
	conf := filepath.Join(labRun(), "slurm/slurm.conf")
	if _, err := os.Stat(conf); err != nil {
		t.Skip("the lab's Slurm is not up: lab/engines/slurm up starts it")
	}
	c := &onCluster{t: t}
	u, err := user.Lookup("plimsoll") // the lab's ordinary user
	if err != nil {
		u, err = user.Lookup("nobody")
	}
	if err != nil {
		t.Skip("there is no ordinary user: ", err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	c.user = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	if c.dir, err = os.MkdirTemp(filepath.Join(labRun(), "slurm", place), "home-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(c.dir) })
	require.NoError(t, os.Chown(c.dir, int(uid), int(gid)))
	// What a node keeps between runs goes with the test.
	tmp, err := os.MkdirTemp(filepath.Join(labRun(), "slurm/shared"), "tmp-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(tmp) })
	require.NoError(t, os.Chown(tmp, int(uid), int(gid)))
	c.env = []string{"TMPDIR=" + tmp, "PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "USER=" + u.Username, "LOGNAME=" + u.Username, "SLURM_CONF=" + conf, "CI=1"}
	return c
}

// program puts the program where the nodes find it, and the user may enter.
func (c *onCluster) program() string {
	c.t.Helper()
	path := filepath.Join(labRun(), "slurm/shared", fmt.Sprintf("program-%d", os.Getpid()), "plimsoll")
	programOnce.Do(func() {
		programErr = os.MkdirAll(filepath.Dir(path), 0o755)
		if programErr == nil {
			programErr = copyFile(path, "/proc/self/exe")
		}
	})
	if programErr != nil {
		c.t.Fatal(programErr)
	}
	return path
}

var (
	programOnce sync.Once
	programErr  error
)

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// forgetProgram takes it away again, when the last test has ended.
func forgetProgram() {
	_ = os.RemoveAll(filepath.Join(labRun(), "slurm/shared", fmt.Sprintf("program-%d", os.Getpid())))
}

func (c *onCluster) study(blocks int, pause time.Duration) string {
	c.t.Helper()
	path := filepath.Join(c.dir, "study.yaml")
	text := fmt.Sprintf(`plimsoll: 1
name: site
protocol: {blocks: %d, warmup: 0, trial-limit: 20s, pause: %s}
workloads: [hello]
environments: [host, floor, charliecloud]
`, blocks, pause)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// login is the program as the user runs it at the login node.
type login struct {
	*onCluster
	cmd  *exec.Cmd
	said *bytes.Buffer
	done chan struct{}
}

func (c *onCluster) start(args ...string) *login {
	c.t.Helper()
	l := &login{onCluster: c, said: &bytes.Buffer{}, done: make(chan struct{})}
	l.cmd = exec.Command(c.program(), args...)
	l.cmd.Env, l.cmd.Dir = c.env, c.dir
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.user}
	l.cmd.Stdout, l.cmd.Stderr = l.said, l.said
	if err := l.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() {
		_ = l.cmd.Wait() // its status is asked for
		close(l.done)
	}()
	c.t.Cleanup(func() {
		_ = l.cmd.Process.Kill()
		<-l.done
	})
	return l
}

// end waits for the program's end and gives its status and what it said.
func (l *login) end(limit time.Duration) (int, string) {
	l.t.Helper()
	select {
	case <-l.done:
	case <-time.After(limit):
		_ = l.cmd.Process.Kill()
		<-l.done
		l.t.Fatalf("plimsoll has not ended after %v, having said:\n%s", limit, l.said)
	}
	return l.cmd.ProcessState.ExitCode(), l.said.String()
}

func (c *onCluster) run(limit time.Duration, args ...string) (int, string) {
	c.t.Helper()
	return c.start(args...).end(limit)
}

// until waits for something to come about.
func (c *onCluster) until(what string, limit time.Duration, is func() bool) {
	c.t.Helper()
	for begin := time.Now(); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Since(begin) > limit {
			c.t.Fatalf("after %v there is not yet: %s", limit, what)
		}
	}
}

// trials is how many a record has, 0 where there is none.
func (c *onCluster) trials(dir string) int {
	_, sum, err := recorded(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return sum.Trials
}

// slurm asks the lab's Slurm as root.
func (c *onCluster) slurm() *slurm.Client {
	return &slurm.Client{Env: append(os.Environ(), "SLURM_CONF="+filepath.Join(labRun(), "slurm/slurm.conf"))}
}

// jobs are the numbers of a run's jobs by its ledger, in their order, and the
// states in which they ended.
func (c *onCluster) jobs(dir string) (ids []string, ends []slurm.State) {
	c.t.Helper()
	account := slurm.AccountOf(dir)
	text, err := os.ReadFile(account[len(account)-1])
	if err != nil {
		c.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var e slurm.Entry
		if json.Unmarshal([]byte(line), &e) != nil {
			continue // a kill has torn it
		}
		switch e.Step {
		case slurm.Submitted:
			ids = append(ids, e.Job)
		case slurm.Ended:
			if e.Job != "" {
				ends = append(ends, e.State)
			}
		}
	}
	return ids, ends
}

// whole demands every trial of the plan once, none of them failed, and nothing
// left behind, on the nodes and in the queue.
func (c *onCluster) whole(dir string) {
	c.t.Helper()
	run, plan, err := oldPlan(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	if n := c.trials(dir); n != plan.Trials() || run.Status != "done" || len(run.Residue) > 0 {
		c.t.Errorf("%d trials of %d, status %s, residue %v", n, plan.Trials(), run.Status, run.Residue)
	}
	r, err := record.Open(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	envs := map[string]bool{}
	for tr, err := range r.Trials() {
		if err != nil {
			c.t.Fatal(err)
		}
		envs[tr.Env] = true
		if !tr.OK() {
			c.t.Errorf("trial %d in %s failed: %s: %s", tr.Seq, tr.Env, tr.Failure.Class, tr.Failure.Text)
		}
	}
	if len(envs) < 2 {
		c.t.Errorf("only %v were measured", envs)
	}
	ids, _ := c.jobs(dir)
	for _, id := range ids {
		if j, err := c.slurm().Job(context.Background(), id); err != nil || !j.State.Over() {
			c.t.Errorf("job %s is %s: %v", id, j.State, err)
		}
	}
}

// TestSlurm: from a login node, as an ordinary user, a study is submitted,
// cancelled in the middle, and gone on with.
func TestSlurm(t *testing.T) {
	c := cluster(t, "shared")
	out := filepath.Join(c.dir, "out")
	l := c.start("run", c.study(10, 200*time.Millisecond), "--on", "slurm", "--force", "--progress", "plain", "-o", out)
	c.until("a dozen trials", 40*time.Second, func() bool { return c.trials(out) > 12 || ended(l.done) })
	_ = l.cmd.Process.Signal(os.Interrupt)
	code, said := l.end(30 * time.Second)
	n := c.trials(out)
	ids, _ := c.jobs(out)
	if code != int(Interrupted) || len(ids) != 1 || n < 5 || !strings.Contains(said, "plimsoll run --resume") {
		t.Fatalf("status %d after %d trials by jobs %v:\n%s%s", code, n, ids, said, c.log(out))
	}
	if j, err := c.slurm().Job(t.Context(), ids[0]); err != nil || !j.State.Over() || !j.Ours(j.Name[len("plimsoll-"):]) {
		t.Errorf("job %s is %+v: %v", ids[0], j, err)
	}
	if run, _, err := oldPlan(out); err != nil || run.Status != "interrupted" {
		t.Errorf("the record is %v: it was not ended in order: %v", run, err)
	}
	code, said = c.run(50*time.Second, "run", "--resume", out, "--progress", "plain")
	if code != 0 {
		t.Fatalf("status %d:\n%s%s", code, said, c.log(out))
	}
	c.whole(out)
	if !strings.Contains(said, "charliecloud") || !strings.Contains(said, "runs on n") {
		t.Errorf("neither table nor course:\n%s", said)
	}
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// log is what the jobs of a run have printed.
func (c *onCluster) log(dir string) string {
	var b strings.Builder
	logs, _ := filepath.Glob(filepath.Join(slurm.JobsDir(dir), "job-*.log"))
	for _, f := range logs {
		text, err := os.ReadFile(f)
		fmt.Fprintf(&b, "--- %s %v\n%s", f, err, text)
	}
	return b.String()
}
