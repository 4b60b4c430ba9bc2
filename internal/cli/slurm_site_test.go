package cli

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/measure/slurm"
	"plimsoll/internal/record"
)

func slowly(t *testing.T) {
	t.Helper()
	if !*atSite {
		t.Skip("waits for a cluster: make test-site runs it")
	}
}

// lab runs a script of the lab.
func (c *onCluster) lab(args ...string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = "../.."
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%v: %v\n%s", args, err, out)
	}
}

// A lost login node, by SIGKILL or a lost session, costs the job nothing: it
// goes on, and is followed again.
func TestSiteLostLogin(t *testing.T) {
	slowly(t)
	c := cluster(t, "shared")
	out := filepath.Join(c.dir, "out")
	l := c.start("run", c.study(12, 200*time.Millisecond), "--on", "slurm", "--force", "--progress", "plain", "-o", out)
	c.until("a trial", 40*time.Second, func() bool { return c.trials(out) > 1 || ended(l.done) })
	_ = l.cmd.Process.Kill()
	l.end(10 * time.Second)
	was := c.trials(out)

	l = c.start("run", "--resume", out, "--progress", "plain")
	c.until("more trials", 20*time.Second, func() bool { return c.trials(out) > was+3 || ended(l.done) })
	_ = l.cmd.Process.Signal(syscall.SIGHUP)
	code, said := l.end(10 * time.Second)
	if code != int(Interrupted) || !strings.Contains(said, "goes on by itself") {
		t.Errorf("status %d:\n%s", code, said)
	}
	ids, _ := c.jobs(out)
	if j, err := c.slurm().Job(t.Context(), ids[0]); err != nil || j.State != slurm.Running {
		t.Errorf("job %s does not run any more: %s %v", ids[0], j.State, err)
	}

	code, said = c.run(50*time.Second, "run", "--resume", out, "--progress", "plain")
	ids, ends := c.jobs(out)
	if code != 0 || len(ids) != 1 || len(ends) != 1 || ends[0] != slurm.Completed {
		t.Errorf("status %d, jobs %v, which ended %v:\n%s%s", code, ids, ends, said, c.log(out))
	}
	c.whole(out)
}

// A node that dies ends its job in a clear way; the rest waits for the node and
// completes.
func TestSiteNodeDies(t *testing.T) {
	slowly(t)
	c := cluster(t, "shared")
	out := filepath.Join(c.dir, "out")
	l := c.start("run", c.study(10, 200*time.Millisecond), "--on", "slurm", "--nodes", "2", "--force", "--progress", "plain", "-o", out)
	c.until("some trials", 40*time.Second, func() bool { return c.trials(out) > 5 || ended(l.done) })
	// The first process of the node, by its id: all else of the node ends with it.
	t.Cleanup(func() { c.lab("lab/engines/slurm", "up") })
	text, err := os.ReadFile(filepath.Join(labRun(), "slurm/n1.pid"))
	require.NoError(t, err)
	c.lab("bash", "-c", ". lab/lib.sh; kill -KILL $(saved_pid $LAB_RUN/slurm/n1.pid)")
	t.Logf("ended process %s", strings.TrimSpace(string(text)))
	ids := func() []string { ids, _ := c.jobs(out); return ids }
	c.until("a second job", 90*time.Second, func() bool { return len(ids()) > 1 || ended(l.done) })
	c.lab("lab/engines/slurm", "up")
	code, said := l.end(time.Minute)
	_, ends := c.jobs(out)
	if code != 0 || len(ends) != 2 || ends[0] != slurm.NodeFail || ends[1] != slurm.Completed {
		t.Errorf("status %d, jobs ended %v:\n%s%s", code, ends, said, c.log(out))
	}
	if !strings.Contains(said, "a node of it died") {
		t.Errorf("it does not say what happened:\n%s", said)
	}
	c.whole(out)
}

// A job at its time limit is told before, ends in order, and the rest of the
// study is submitted.
func TestSiteTimeLimit(t *testing.T) {
	slowly(t)
	c := cluster(t, "shared")
	out := filepath.Join(c.dir, "out")
	// Its pauses alone take longer than that.
	code, said := c.run(3*time.Minute, "run", c.study(36, 600*time.Millisecond), "--on", "slurm", "--time-limit", "1m", "--force", "--progress", "plain", "-o", out)
	ids, ends := c.jobs(out)
	if code != 0 || len(ids) < 2 || ends[len(ends)-1] != slurm.Completed {
		t.Errorf("status %d, jobs %v, which ended %v:\n%s%s", code, ids, ends, said, c.log(out))
	}
	if !strings.Contains(said, "time limit") {
		t.Errorf("it does not say what happened:\n%s", said)
	}
	c.whole(out)
}

// A shared file system that is full ends the job with what it is; once there is
// room, the rest is measured, and no trial is lost.
func TestSiteFull(t *testing.T) {
	slowly(t)
	c := cluster(t, "small")
	out := filepath.Join(c.dir, "out")
	l := c.start("run", c.study(12, 200*time.Millisecond), "--on", "slurm", "--force", "--progress", "plain", "-o", out)
	c.until("some trials", 40*time.Second, func() bool { return c.trials(out) > 3 || ended(l.done) })
	filler := filepath.Join(c.dir, "filler")
	fill(t, filler)
	code, said := l.end(time.Minute)
	was := c.trials(out)
	if code != int(Failed) || !strings.Contains(said, "s full") || !strings.Contains(said, "--resume") {
		t.Errorf("status %d:\n%s%s", code, said, c.log(out))
	}
	require.NoError(t, os.Remove(filler))
	code, said = c.run(50*time.Second, "run", "--resume", out, "--progress", "plain")
	if code != 0 || was < 4 {
		t.Errorf("status %d after %d trials:\n%s%s", code, was, said, c.log(out))
	}
	c.whole(out)
}

// fill writes until there is no room.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	for buf := make([]byte, 64<<10); len(buf) > 0; {
		if _, err := f.Write(buf); err != nil {
			buf = buf[:len(buf)/2]
		}
	}
}

// What a site refuses is told at once, with what it has; and a job that is not
// proved to be ours is never cancelled.
func TestSiteRefusals(t *testing.T) {
	slowly(t)
	c := cluster(t, "shared")
	out := filepath.Join(c.dir, "out")
	study := c.study(6, 200*time.Millisecond)
	code, said := c.run(20*time.Second, "run", study, "--on", "slurm", "--partition", "nosuch", "-o", out)
	if code != int(Failed) || !strings.Contains(said, "nosuch") && !strings.Contains(said, "partition") || !strings.Contains(said, "partitions here: lab") {
		t.Errorf("status %d:\n%s", code, said)
	}
	// What was written down is begun again, with what is asked for now.
	l := c.start("run", "--resume", out, "--partition", "lab", "--force", "--progress", "plain")
	c.until("a trial", 40*time.Second, func() bool { return c.trials(out) > 1 || ended(l.done) })
	ids, _ := c.jobs(out)
	if len(ids) == 0 {
		_, said := l.end(10 * time.Second)
		t.Fatalf("no job:\n%s%s", said, c.log(out))
	}
	c.lab("env", "SLURM_CONF="+filepath.Join(labRun(), "slurm/slurm.conf"), "scontrol", "update", "JobId="+ids[0], "Comment=another")
	_ = l.cmd.Process.Signal(os.Interrupt)
	code, said = l.end(20 * time.Second)
	if code != int(Failed) || !strings.Contains(said, "is not proved to be of the run") {
		t.Errorf("status %d:\n%s", code, said)
	}
	if j, err := c.slurm().Job(t.Context(), ids[0]); err != nil || j.State.Over() {
		t.Errorf("job %s is %s: %v", ids[0], j.State, err)
	}
	code, said = c.run(50*time.Second, "run", "--resume", out, "--progress", "plain")
	if code != 0 {
		t.Errorf("status %d:\n%s%s", code, said, c.log(out))
	}
	c.whole(out)
}

// siteRanks are two ranks on two nodes.
const siteRanks = `plimsoll: 1
name: site-ranks
protocol: {blocks: 2, warmup: 0, limits: {cpus: none, memory: none}}
baselines: [native]
workloads:
  - {name: mpi-latency, parameters: {nodes: 2, size: 65536, iterations: 100}}
  - {name: mpi-allreduce, parameters: {nodes: 2, ranks: 2, iterations: 10}}
environments:
  - native
  - {engine: charliecloud, storage: directory}
  - {engine: apptainer, storage: sandbox}
`

// Ranks on two nodes, each a container, started by srun inside of a job: what
// passes between them goes by TCP. The image comes from the login node's store.
func TestSiteRanks(t *testing.T) {
	slowly(t)
	c := cluster(t, "shared")
	imagetest.Toolbox(t, enginetest.Kit(t))
	c.user = &syscall.Credential{} // root, whose image store the tests have filled
	require.NoError(t, os.Chown(c.dir, 0, 0))
	state := filepath.Join(c.dir, "state")
	require.NoError(t, os.Mkdir(state, 0o700))
	if out, err := exec.Command("cp", "-al", imagetest.ImageDir(), filepath.Join(state, "images")).CombinedOutput(); err != nil {
		if out2, err2 := exec.Command("cp", "-a", "-f", imagetest.ImageDir(), filepath.Join(state, "images")).CombinedOutput(); err2 != nil {
			t.Fatalf("%v: %s, %v: %s", err, out, err2, out2)
		}
	}
	// Open MPI takes any interface for one that leads to the other rank.
	// The PATH is without the tests' own programs, which no node has.
	c.env = append(c.env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PLIMSOLL_STATE="+state, "OMPI_MCA_btl_tcp_if_include=10.83.55.0/24")
	study, out := filepath.Join(c.dir, "ranks.yaml"), filepath.Join(c.dir, "out")
	require.NoError(t, os.WriteFile(study, []byte(siteRanks), 0o644))
	code, said := c.run(3*time.Minute, "run", study, "--on", "slurm", "--nodes", "2", "--force", "--progress", "plain", "-o", out)
	r, err := record.Open(out)
	if err != nil {
		t.Fatalf("status %d, %v:\n%s%s", code, err, said, c.log(out))
	}
	if run := r.Run(); run.Status != "done" || len(run.Residue) > 0 {
		t.Errorf("the run is %s, residue %v", run.Status, run.Residue)
	}
	all, err := r.Insides()
	require.NoError(t, err)
	ways := map[string]string{}
	for _, in := range all {
		ways[in.ID] = in.More["mpi.transport"] + " over " + in.More["mpi.nodes"]
	}
	good := map[string]int{}
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		switch {
		case !tr.OK():
			t.Errorf("%s %s failed: %s: %s", tr.Env, tr.Workload, tr.Failure.Class, tr.Failure.Text)
		case ways[tr.Inside] != "ob1 tcp over 2":
			t.Errorf("%s %s: the messages went by %q", tr.Env, tr.Workload, ways[tr.Inside])
		default:
			good[tr.Env]++
		}
	}
	if good["native"] != 4 || good["charliecloud"] != 4 || good["apptainer/sandbox"] != 4 {
		t.Errorf("of four trials each succeeded: %v (status %d)\n%s%s", good, code, said, c.log(out))
	}
}
