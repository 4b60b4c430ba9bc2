//go:build linux

package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// repeatable is a study in which each flag of run has something to decide.
const repeatable = `plimsoll: 1
name: repeatable
protocol: {blocks: 7}
parts:
  - name: one
    workloads: [hello]
    environments:
      - engine: docker
        runtime: [runc, crun]
      - engine: docker
        image-on: scratch
  - name: two
    workloads:
      - python
      - os-create-files
    environments:
      - engine: docker
        image: debian:12
      - balena
scales:
  quick:
    protocol: {blocks: 3}
    parts:
      two: {skip: It takes long.}
claims:
  - id: repeatable/1
    says: runc is as fast as crun.
    tests:
      - {of: {engine: docker, runtime: runc}, to: {engine: docker, runtime: crun}, workload: hello, metric: bootstrap, ratio: 0.5..2}
`

// flagsGiven are command lines that change the plan: each flag of which runFlags
// says that it decides stands in one of them.
func flagsGiven(dir, novel string) [][]string {
	gate := []string{"--gate-env", "docker/crun", "--gate-env", "docker/runc"}
	with := func(flags ...string) []string { return append(slices.Clone(gate), flags...) }
	job := func(flags ...string) []string {
		return append([]string{"--on", "srun", "--run-id", "abcd2345"}, flags...)
	}
	return [][]string{
		nil, {"--blocks", "3"}, {"--seed", "12"}, {"--small"}, {"--patience", "1.5"}, {"--small=false", "--blocks=2"}, {"--scale", "quick"},
		{"--part", "two"}, {"--part=one,two", "--part", "two"}, {"--limit-cpus", "1,2"}, {"--limit-cpus=0.5", "--limit-memory", "256MiB,none"}, {"--engine", "docker"}, {"--engine", "docker", "--engine=balena"},
		{"--claim", "1"}, {"--image", "debian:12=debian:11"}, {"--image-on", "scratch=" + dir}, {"--build", "novel:new=" + novel}, {"--mirror", "https://mirror.example"},
		{"--until", "2%", "--max-blocks", "30"}, {"--until", "claims"}, {"--time-budget", "10m"},
		{"--on", "mpirun", "--hosts", "one:2,two"}, {"--tuned"},
		with("--fail-above", "5%"), with("--fail-above=5%", "--budget=60s", "--strict", "--allow-missing", "--unlike", "--allow-failures", "10%"),
		with("--thresholds", filepath.Join(dir, "gate.yaml")), {"--gate", filepath.Join(dir, "base"), "--fail-above", "5%"},
		job("--partition", "short", "--account=me", "--nodes", "2", "--tasks-per-node=3", "--time-limit", "1-0", "--share-nodes", "--slurm-option", "constraint=a,b", "--slurm-option=qos=low", "--max-jobs", "3"),
	}
}

// begun plans a run as the command line says, and gives it as its record will
// have it, with the cells.
func begun(t *testing.T, dir string, args []string) (*runAsked, *run.Options, string) {
	t.Helper()
	var out, errs bytes.Buffer
	return begunIn(t, offline(dir, machine(), &out, &errs), args)
}

// begunIn does so in a world.
func begunIn(t *testing.T, w World, args []string) (*runAsked, *run.Options, string) {
	t.Helper()
	a := &runAsked{reportFlags: reportFlags{format: "text"}, turn: turn{progress: "none"}}
	c := a.command(w)
	if err := c.ParseFlags(args); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	s, err := newSetting(w)
	require.NoError(t, err)
	o, err := a.options(context.Background(), s, c, c.Flags().Args())
	if err != nil && strings.Contains(err.Error(), "can't be tuned") {
		return nil, nil, err.Error()
	}
	if err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	o.Plan.Record(o.Run)
	return a, &o, ""
}

// planOf is what must be the same.
func planOf(t *testing.T, o *run.Options) string {
	t.Helper()
	r := *o.Run
	r.Arguments, r.ID = nil, ""
	if r.Place != nil && r.Place.On == onSlurm {
		r.Place.On = onJob // a job comes to it
	}
	b, err := json.Marshal(struct {
		Run   record.Run
		Cells any
	}{r, o.Plan.Cells})
	require.NoError(t, err)
	return string(b)
}

// The command that a record has plans the same run again, whatever flags it was
// planned by; and each flag of run is replayed, or is said to decide nothing.
func TestRepeat(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "my study.yaml")
	write := func(path, text string) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(file, repeatable)
	write(filepath.Join(dir, "gate.yaml"), "plimsoll-gate: 1\nfail-above: 5%\n")
	base := filepath.Join(dir, "base")
	rec, err := record.Create(base, &record.Run{Format: record.FormatVersion, ID: "aaaa2222", Status: "done"})
	require.NoError(t, err)
	require.NoError(t, rec.Close())
	novel, err := exec.LookPath("a-novel")
	require.NoError(t, err)
	seen, plans := map[string]bool{}, map[string][]string{}
	studied := file
	for _, flags := range flagsGiven(dir, novel) {
		file := studied
		if len(flags) > 0 && flags[0] == "--build" { // a study that asks for a build takes no run without one
			file = filepath.Join(dir, "my builds.yaml")
			write(file, strings.Replace(repeatable, "        image-on: scratch\n", "        image-on: scratch\n      - engine: novel\n        build: [default, new]\n", 1))
		}
		a, o, untuned := begun(t, dir, append([]string{file}, flags...))
		if untuned != "" {
			t.Logf("--tuned is not tried here: %s", untuned)
			seen["tuned"] = true
			continue
		}
		line := harmless.ShellLine(o.Run.Arguments)
		if !strings.HasPrefix(line, "run '"+file+"' ") || !strings.Contains(line, " --seed ") {
			t.Errorf("%v: %s", flags, line)
		}
		b, again, _ := begun(t, dir, o.Run.Arguments[1:])
		if planOf(t, o) != planOf(t, again) {
			t.Errorf("%v: plimsoll %s plans another run:\n%s\n%s", flags, line, planOf(t, o), planOf(t, again))
		}
		if b.job.request.Partition != a.job.request.Partition || b.job.request.Nodes != a.job.request.Nodes || !slices.Equal(b.job.request.Options, a.job.request.Options) || b.job.limit != a.job.limit || b.job.most != a.job.most {
			t.Errorf("%v: plimsoll %s asks the cluster for %+v, not %+v", flags, line, b.job, a.job)
		}
		o.Plan.Protocol.Seed, o.Run.Protocol.Seed = 0, 0
		o.Run.Protocol.Plan = ""
		plans[planOf(t, o)] = append(plans[planOf(t, o)], line)
		c := (&runAsked{}).command(offline(dir, machine(), nil, nil))
		require.NoError(t, c.ParseFlags(o.Run.Arguments))
		c.Flags().Visit(func(f *pflag.Flag) { seen[f.Name] = true })
	}
	if len(plans) < 15 {
		t.Errorf("the flags plan %d different runs only: too few of them decide anything here", len(plans))
	}
	known := map[string]use{}
	for _, f := range runFlags {
		known[f.name] = f.use
	}
	(&runAsked{}).command(offline(dir, machine(), nil, nil)).Flags().VisitAll(func(f *pflag.Flag) {
		u, ok := known[f.Name]
		switch {
		case !ok:
			t.Errorf("runFlags does not say whether --%s decides what is planned", f.Name)
		case u&decides != 0 && !seen[f.Name]:
			t.Errorf("--%s decides what is planned, and was not tried, or not replayed", f.Name)
		}
		delete(known, f.Name)
	})
	for name := range known {
		t.Errorf("runFlags has --%s, which run has not", name)
	}
}
