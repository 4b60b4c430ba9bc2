//go:build !unit

package vmtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/portable"
	"plimsoll/internal/measure/portable/portabletest"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// A Docker daemon in a machine of its own, with another kernel and another clock, is
// measured by its API alone: the record says so, and nothing is left there, neither by the
// daemon's word nor by that of the machine.
func TestSiteDockerInMachine(t *testing.T) {
	if os.Getenv("PLIMSOLL_SITE") != "1" {
		t.Skip("takes one to two minutes: make test-site runs it")
	}
	m, ledgers := bootDocker(t), t.TempDir()
	m.goOn()
	m.hears("what is there is noted")
	m.measure(ledgers)
	m.empty(ledgers)
	m.goOn()
	out := results{t, m.end()}
	out.same("cgroups", "/sys/fs/cgroup/docker")
	out.same("mounts")
	out.same("processes", "sh", "exe") // the script's own, while it looks
	if t.Failed() {
		t.Logf("the daemon's log:\n%s", out.text("dockerd.log"))
	}
}

// measure measures the daemon, and holds the record against what the machine is.
func (m *dockerMachine) measure(ledgers string) {
	t := m.t
	t.Helper()
	id, dir := record.NewRunID(), filepath.Join(t.TempDir(), "record")
	plan := &study.Plan{
		Study: record.Study{Name: "far"},
		// Emulated, a container takes seconds; on a busy machine, many.
		Protocol:     record.Protocol{Blocks: 3, Warmup: 1, PerBlock: 1, Seed: 1, Order: "random", Algorithm: study.Algorithm, TrialLimitNS: int64(3 * time.Minute)},
		Environments: []record.Environment{{ID: "docker", Engine: portable.Docker, Levels: map[string]string{engine.Client: "api", engine.Network: "none"}}},
		Workloads:    []record.Workload{{ID: "hello", Name: "hello"}},
		Cells:        []study.Cell{{}},
	}
	look := &portable.Look{Context: t.Context(), Images: &portable.Images{RunID: id}, Around: m.around}
	sum, err := portable.Execute(t.Context(), portable.Options{Look: look, Plan: plan, Run: &record.Run{ID: id}, Dir: dir, Ledgers: ledgers, Say: func(s string) { t.Log(s) }})
	if err == nil {
		err = sum.Unclean
	}
	if err != nil || sum.Trials != 4 || sum.Failed != 0 {
		t.Errorf("%+v, %v; want 4 trials, none of them failed", sum, err)
		return
	}
	rec, err := record.Open(dir)
	require.NoError(t, err)
	release, err := os.ReadFile(filepath.Join(kernelDir(), "release"))
	require.NoError(t, err)
	kernel := strings.TrimSpace(string(release))
	env := rec.Run().Environments[0]
	for fact, want := range map[string]string{"kernel": kernel, "daemon-kernel": kernel, "daemon-machine": "far", "daemon-cpus": "1", "cgroup": "v2", "reached": "TCP with TLS"} {
		if got := env.Facts[fact]; got != want {
			t.Errorf("the fact %s is %q, want %q", fact, got, want)
		}
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	require.NoError(t, err)
	if h := rec.Run().Host; h.Name != "far" || h.CPUs != 1 || h.Boot == "" || h.Boot == record.Identity(strings.TrimSpace(string(boot)), record.OfBoot) {
		t.Errorf("the host is %+v, not the daemon's machine", h)
	}
	if env.Clock != record.ClockForeign {
		t.Errorf("the clock is said to be %q", env.Clock)
	}
	startup, _ := record.MetricByID("startup")
	bootstrap, _ := record.MetricByID("bootstrap")
	for trial, err := range rec.Trials() {
		require.NoError(t, err)
		// The machine was booted later than this one, and its clock began then.
		if first := trial.Events[record.First]; first <= 0 || first >= trial.Events[record.Request] {
			t.Errorf("trial %d: the payload's stamp is %d and the request's %d: one clock for both", trial.Seq, first, trial.Events[record.Request])
		}
		if d, ok := bootstrap.Derive(trial); ok {
			t.Errorf("trial %d has a bootstrap of %d ns, over two clocks", trial.Seq, d)
		}
		if d, ok := startup.Derive(trial); !ok || d <= 0 || trial.Values["round-trip"] <= 0 {
			t.Errorf("trial %d: start-up %d ns, round trip %v ns", trial.Seq, d, trial.Values["round-trip"])
		}
	}
}

// empty demands that the daemon has nothing any more, and that there is no ledger.
func (m *dockerMachine) empty(ledgers string) {
	t := m.t
	t.Helper()
	d, err := m.far.Connect("")
	if err == nil {
		err = d.Greet(t.Context())
	}
	require.NoError(t, err)
	defer d.Close()
	portabletest.Empty(t, d, ledgers)
}
