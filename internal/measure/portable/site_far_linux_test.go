//go:build !unit

package portable

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable/portabletest"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// A daemon in namespaces of its own, to which nothing but TCP with TLS leads, is measured
// by its API and by its command; a run that was interrupted before its first trial goes
// on, and nothing at all is left there.
func TestSiteFarDaemon(t *testing.T) {
	far := startFar(t, false)
	for name, value := range map[string]string{"DOCKER_HOST": far.tcp.Host, "DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": far.certs, "DOCKER_CONTEXT": "", "DOCKER_CONFIG": t.TempDir()} {
		t.Setenv(name, value) // the command has them from here
	}
	dir, ledgers := filepath.Join(t.TempDir(), "record"), t.TempDir()
	id := record.NewRunID()
	plan := &study.Plan{
		Study:     record.Study{Name: "far"},
		Protocol:  record.Protocol{Blocks: 2, PerBlock: 1, Seed: 1, Order: "random", Algorithm: study.Algorithm, TrialLimitNS: int64(time.Minute)},
		Workloads: []record.Workload{{ID: "hello", Name: "hello"}, {ID: "stop", Name: "stop"}, {ID: "exec", Name: "exec"}},
	}
	for i, level := range []string{byAPILevel, byCLILevel} {
		plan.Environments = append(plan.Environments, record.Environment{ID: "docker/" + level, Engine: Docker, Levels: map[string]string{engine.Client: level, engine.Network: "none"}})
		for w := range plan.Workloads {
			plan.Cells = append(plan.Cells, study.Cell{Env: i, Workload: w})
		}
	}
	run := &record.Run{ID: id}
	over := make(chan struct{})
	close(over)
	for _, finish := range []chan struct{}{over, make(chan struct{})} {
		look := &Look{Context: t.Context(), Images: &Images{RunID: id}, Around: Surroundings{Getenv: os.Getenv, LookPath: exec.LookPath, Home: t.TempDir(), System: "linux"}}
		o := Options{Look: look, Plan: plan, Run: run, Dir: dir, Ledgers: ledgers, Finish: finish, Say: func(s string) { t.Log(s) }, Resume: finish != over}
		sum, err := Execute(t.Context(), o)
		if err == nil {
			err = sum.Unclean
		}
		require.NoError(t, err)
		if want := map[bool]int{true: 12, false: 0}[o.Resume]; sum.Trials != want || sum.Planned != 12 || sum.Failed != 0 || sum.Interrupted == o.Resume {
			t.Fatalf("resumed %v: %+v, want %d of 12 trials", o.Resume, sum, want)
		}
		r, err := record.Open(dir)
		require.NoError(t, err)
		run = r.Run()
		plan, err = study.FromRun(run)
		require.NoError(t, err)
	}
	if run.Status != "done" || len(run.Resumed) != 1 || run.Environments[0].Facts["reached"] != byTLS || run.Environments[0].Facts["host"] != far.tcp.Host {
		t.Errorf("%s, resumed %v, %+v", run.Status, run.Resumed, run.Environments[0].Facts)
	}
	d, err := far.tcp.Connect("")
	if err == nil {
		err = d.Greet(t.Context())
	}
	require.NoError(t, err)
	defer d.Close()
	portabletest.Empty(t, d, ledgers)
}
