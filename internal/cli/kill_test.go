package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/record"
)

// kills is the number of random moments at which the run is killed.
const kills = 30

// TestKilled kills a run on real engines at random moments, goes on with it by
// --resume each time, and looks at the end whether a completed trial was lost
// and whether anything was left behind.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute: left out with -short")
	}
	dir := t.TempDir()
	p := &subject{t: t, dir: dir}
	study := filepath.Join(dir, "killed.yaml")
	require.NoError(t, os.WriteFile(study, []byte(killedStudy(t, p)), 0o644))
	before, err := host.Machine{}.Census(t.Context())
	require.NoError(t, err)
	chance := rand.New(rand.NewPCG(1, 2))
	for struck, runs := 0, 0; struck < kills; runs++ {
		p.out = filepath.Join(dir, fmt.Sprintf("result-%d", runs))
		args := []string{"run", "--wait", study, "-o", p.out, "--force", "--progress", "none"}
		known := map[int]string{}
		for struck < kills && !p.killAfter(time.Duration(chance.IntN(1500))*time.Millisecond, args...) {
			struck++
			known = p.stillThere(known)
			if p.begun() {
				args = []string{"run", "--wait", "--resume", p.out, "--force", "--progress", "none"}
			}
		}
		if code, said := p.run("run", "--wait", "--resume", p.out, "--force", "--progress", "none"); code != 0 {
			t.Fatalf("going on after the last kill: status %d\n%s", code, said)
		}
		p.stillThere(known)
		p.complete()
		p.nothingLeft(before)
	}
}

// stillThere demands that every trial that was complete before is so now.
func (p *subject) stillThere(known map[int]string) map[int]string {
	p.t.Helper()
	now := p.trials()
	for seq, line := range known {
		if now[seq] != line {
			p.t.Fatalf("trial %d was complete before a kill and is now %q, not %q", seq, now[seq], line)
		}
	}
	return now
}

// killedStudy has the engines that are here and are quick enough.
func killedStudy(t *testing.T, p *subject) string {
	s, err := newSetting(p.world())
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("plimsoll: 1\nname: killed\nprotocol: {blocks: 8, warmup: 1, trial-limit: 20s}\ncommon: {network: none}\nworkloads: [hello]\nenvironments:\n  - host\n")
	for _, want := range []struct{ engine, entry string }{
		{"native", "  - native\n"},
		{"floor", "  - floor\n"},
		{"oci", "  - {engine: oci, runtime: runc, client: steps}\n"},
		{"docker", "  - {engine: docker, client: api}\n"},
	} {
		for _, f := range s.detect(context.Background(), want.engine) {
			if f.Usable {
				b.WriteString(want.entry)
			} else {
				t.Logf("without %s: %s", want.engine, f.Reason)
			}
		}
	}
	return b.String()
}

// subject is the program under test, as a process of its own.
type subject struct {
	t   *testing.T
	dir string
	out string
}

func (p *subject) env() []string {
	return append(os.Environ(), "PLIMSOLL_STATE="+filepath.Join(p.dir, "state"), "CI=1")
}

func (p *subject) world() World {
	w := System()
	w.Getenv = func(name string) string {
		if name == "PLIMSOLL_STATE" {
			return filepath.Join(p.dir, "state")
		}
		return os.Getenv(name)
	}
	return w
}

func (p *subject) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Args[0] = "plimsoll" // TestMain goes by the name
	cmd.Env, cmd.Dir = p.env(), p.dir
	return cmd
}

// run runs to the end and gives the status and what was said.
func (p *subject) run(args ...string) (int, string) {
	p.t.Helper()
	var said bytes.Buffer
	cmd := p.command(args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), said.String()
}

// killAfter starts the program and kills it by SIGKILL; true where it had
// ended by itself.
func (p *subject) killAfter(d time.Duration, args ...string) bool {
	p.t.Helper()
	var said bytes.Buffer
	cmd := p.command(args...)
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	// The moments are to lie in the run and not before it.
	for begin := time.Now(); time.Since(begin) < 30*time.Second && !p.begun(); {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(d)
	_ = cmd.Process.Kill() // it may have ended: that is seen below
	err := cmd.Wait()
	if st, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && st.Signaled() && st.Signal() == syscall.SIGKILL {
		return false
	}
	if err != nil {
		p.failures()
		p.t.Fatalf("%v: %v\n%s", args, err, said.String())
	}
	return true
}

func (p *subject) begun() bool {
	_, err := os.Stat(filepath.Join(p.out, "run.json"))
	return err == nil
}

// trials gives the complete lines of trials.jsonl by the trials' numbers.
func (p *subject) trials() map[int]string {
	p.t.Helper()
	out := map[int]string{}
	if !p.begun() {
		return out
	}
	r, err := record.Open(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	for tr, err := range r.Trials() {
		if err != nil {
			p.t.Fatal(err)
		}
		out[tr.Seq] = tr.Env + " " + tr.At.String()
	}
	return out
}

// complete demands every trial of the plan once, none of them failed.
func (p *subject) complete() {
	p.t.Helper()
	run, plan, err := oldPlan(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	if n := len(p.trials()); n != plan.Trials() {
		p.t.Errorf("%d trials are there, not the plan's %d", n, plan.Trials())
	}
	if run.Status != "done" || len(run.Residue) > 0 {
		p.t.Errorf("the record's status is %q, its residue %q", run.Status, run.Residue)
	}
	p.failures()
}

// failures demands that no trial failed.
func (p *subject) failures() {
	p.t.Helper()
	r, err := record.Open(p.out)
	if err != nil {
		p.t.Error(err)
		return
	}
	for tr, err := range r.Trials() {
		if err == nil && !tr.OK() {
			p.t.Errorf("trial %d in %s failed: %s: %s", tr.Seq, tr.Env, tr.Failure.Class, tr.Failure.Text)
		}
	}
}

// nothingLeft demands that nothing of ours is left, on the machine or in an
// engine's own store.
func (p *subject) nothingLeft(before *host.Census) {
	p.t.Helper()
	now, err := host.Machine{}.Census(context.Background())
	if err != nil {
		p.t.Fatal(err)
	}
	run, _, err := oldPlan(p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, it := range now.Since(before).Ours(host.Marks{RunID: run.ID, Dir: filepath.Join(p.dir, "state", "runs"), Helpers: helpers()}) {
		if it.Certain {
			p.t.Errorf("left behind: %s", it)
		}
	}
	if left, err := os.ReadDir(filepath.Join(p.dir, "state", "runs")); err == nil && len(left) > 0 {
		p.t.Errorf("left behind: %d folders of runs", len(left))
	}
	s, err := newSetting(p.world())
	if err != nil {
		p.t.Fatal(err)
	}
	kit := s.detectKit()
	for _, e := range s.engines {
		if slices.ContainsFunc(run.Environments, func(r record.Environment) bool { return r.Engine == e.Info().Name }) {
			p.noLeftovers(kit, e, run.ID)
		}
	}
}

func (p *subject) noLeftovers(kit *engine.Kit, e engine.Engine, id string) {
	p.t.Helper()
	b, ok := e.(engine.Bearer)
	if !ok {
		return
	}
	left, err := b.Bearing(context.Background(), kit, id)
	if err != nil {
		p.t.Errorf("%s: %v", e.Info().Name, err)
	}
	for _, l := range left {
		p.t.Errorf("%s still holds %s", e.Info().Name, l)
	}
}
