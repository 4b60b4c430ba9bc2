package run

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	ramps "plimsoll/internal/understand/analyze/density"
)

// protocolOf plans one block of a study with these workloads and environments.
func protocolOf(t *testing.T, workloads, environments string, engines ...engine.Engine) Options {
	t.Helper()
	cat := &study.Catalogue{Factors: engine.Factors}
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Baseline: i.Baseline, Simulated: i.Simulated, Levels: i.Levels, Detached: i.Detached})
	}
	for _, w := range workload.Catalogue() {
		numbers := map[string]study.Numbers{}
		for name, n := range w.Numbers {
			numbers[name] = study.Numbers{Min: n.Min, Max: n.Max}
		}
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Parameters: w.Parameters, Metrics: w.Metrics, Numbers: numbers})
	}
	text := "plimsoll: 1\nname: test\nprotocol: {blocks: 1, warmup: 0, seed: 3, trial-limit: 20s, limits: {cpus: none, memory: none}}\nworkloads:\n" +
		workloads + "environments:\n" + environments
	st, err := study.Read(study.Source{Path: "test", Data: []byte(text)}, cat)
	require.NoError(t, err)
	plan, err := study.Expand(st, cat, study.Options{})
	require.NoError(t, err)
	return Options{
		Run: &record.Run{}, Plan: plan, Dir: filepath.Join(t.TempDir(), "run"),
		Engines: engines, State: State{filepath.Join(t.TempDir(), "state")}, Root: os.Geteuid() == 0,
		Getenv: os.Getenv, LookPath: exec.LookPath, Progress: NoProgress{}, Wait: true, Finish: make(chan struct{}),
		machine: counted(t, engines),
	}
}

// carried carries the options out and gives the only trial of each environment.
func carried(t *testing.T, o Options) map[string]record.Trial {
	t.Helper()
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if len(sum.Residue) > 0 || sum.Unclean != nil {
		t.Errorf("left behind: %v %v", sum.Residue, sum.Unclean)
	}
	out := map[string]record.Trial{}
	for env, trials := range results(t, o.Dir) {
		out[env] = trials[0]
	}
	return out
}

// series reads the steps of a trial's one series.
func series[T any](t *testing.T, dir string, tr record.Trial) []T {
	t.Helper()
	if len(tr.Samples) != 1 {
		t.Fatalf("the trial names %v, failure %+v", tr.Samples, tr.Failure)
	}
	r, err := record.Open(dir)
	require.NoError(t, err)
	f, err := r.Samples(tr.Samples[0])
	require.NoError(t, err)
	defer f.Close()
	var out []T
	for s, err := range record.ReadLines[T](f, tr.Samples[0]) {
		require.NoError(t, err)
		out = append(out, s)
	}
	return out
}

func fakes(runtimes ...string) string {
	return "  - {engine: fake, runtime: [" + strings.Join(runtimes, ", ") + "]}\n"
}

func near(t *testing.T, what string, got, want, share float64) {
	t.Helper()
	if math.Abs(got-want) > share*math.Abs(want) {
		t.Errorf("%s is %.4g, want %.4g ± %.2g %%", what, got, want, 100*share)
	}
}

// What is put into the model comes out of the ramp: the crowd's slope, each
// part of the memory, and a leak of 1 MiB for each container.
func TestDensityFindsTheTruth(t *testing.T) {
	o := protocolOf(t, "  - {name: density, parameters: {count: \"50\"}}\n", fakes("medium", "crowded", "leaky"), fake.New())
	trials := carried(t, o)
	for env, tr := range trials {
		if !tr.OK() || tr.Values[record.DensityReached] != 50 {
			t.Fatalf("%s: %+v %v", env, tr.Failure, tr.Values)
		}
		if steps := series[record.DensityStep](t, o.Dir, tr); len(steps) != 1+50+1+50+1 {
			t.Errorf("%s: %d steps", env, len(steps))
		}
	}
	plain, crowded, leaky := trials["fake/medium"].Values, trials["fake/crowded"].Values, trials["fake/leaky"].Values
	near(t, "the payload", plain["footprint-payload"], 400<<10, 1e-9)
	near(t, "the monitor", plain["footprint-monitor"], 3<<20, 1e-9)
	near(t, "the daemon", plain["footprint-daemon"], 100<<10, 1e-9)
	near(t, "the sum", plain["footprint"], 3<<20+500<<10, 1e-9)
	if v := plain["not-given-back-daemon"]; v != 0 {
		t.Errorf("without a leak %v are not given back", v)
	}
	near(t, "the leaking daemon", leaky["footprint-daemon"], 1<<20+100<<10, 1e-9)
	near(t, "what the leak keeps", leaky["not-given-back-daemon"], 50<<20, 1e-9)
	near(t, "the crowd's slope of starts", crowded["start-slope"], 500_000, 0.2)
	near(t, "the crowd's slope of stops", crowded["stop-slope"], 500_000, 0.2)
	if s := plain["start-slope"]; math.Abs(s) > 60_000 {
		t.Errorf("without a crowd each container adds %v ns", s)
	}
	if crowded["start-time-last"]-crowded["start-time-first"] < 15e6 {
		t.Errorf("the last starts take %v, the first %v", crowded["start-time-last"], crowded["start-time-first"])
	}
	if _, ok := plain["footprint-kernel"]; ok {
		t.Error("a simulated engine has kernel memory")
	}
}

// A ramp that ends early is a result: how far it came, and why.
func TestDensityStopsAtALimit(t *testing.T) {
	o := protocolOf(t, "  - {name: density, parameters: {count: \"50\"}}\n", fakes("bounded"), fake.New())
	for env, tr := range carried(t, o) {
		if !tr.OK() || tr.Values[record.DensityReached] != 20 {
			t.Fatalf("%s: %+v %v", env, tr.Failure, tr.Values)
		}
		d := ramps.ReadRamp(series[record.DensityStep](t, o.Dir, tr))
		if d.Limit == nil || d.Limit.Class != record.LimitProcesses || !strings.Contains(d.Limit.Text, "resource temporarily unavailable") {
			t.Errorf("%s: limit %+v", env, d.Limit)
		}
		if len(d.Stops.Y) != 20 {
			t.Errorf("%d of 20 were stopped", len(d.Stops.Y))
		}
		if len(tr.Remarks) == 0 || !strings.Contains(tr.Remarks[0], "20 of 50") {
			t.Errorf("remarks %v", tr.Remarks)
		}
	}
}

// The mode is what it says: an engine that can't detach has no detached ramp,
// and one that can has none in the background.
func TestDensityModes(t *testing.T) {
	for _, c := range []struct{ mode, runtime, text string }{
		{"detached", "attached", "background"}, {"background", "medium", "detached"},
		{"background", "attached", ""}, {"detached", "medium", ""},
	} {
		o := protocolOf(t, fmt.Sprintf("  - {name: density, parameters: {count: \"10\", mode: %s}}\n", c.mode), fakes(c.runtime), fake.New())
		for _, tr := range carried(t, o) {
			switch {
			case c.text == "" && !tr.OK():
				t.Errorf("%s of %s: %+v", c.mode, c.runtime, tr.Failure)
			case c.text != "" && (tr.OK() || tr.Failure.Class != record.Unsupported || !strings.Contains(tr.Failure.Text, "mode "+c.text)):
				t.Errorf("%s of %s: %+v", c.mode, c.runtime, tr.Failure)
			}
		}
	}
}

// faulty is a fake whose held containers misbehave.
type faulty struct {
	spoiled
	hold func(n int, h engine.Held, err error) (engine.Held, error)
}

func (f faulty) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := f.Fake.Open(ctx, kit, spec)
	return &faultyEnv{Environment: env, of: f}, err
}

type faultyEnv struct {
	engine.Environment
	of faulty
	n  int
}

func (e *faultyEnv) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	h, err := e.Environment.(engine.Holder).Hold(ctx, task)
	e.n++
	return e.of.hold(e.n, h, err)
}

// mutant is a held container with a fault.
type mutant struct {
	engine.Held
	output []byte
	ended  chan struct{}
	fail   *record.Failure
	ends   *atomic.Int64
}

func (m *mutant) Output() (stdout, stderr []byte) {
	if m.output != nil {
		return m.output, nil
	}
	return m.Held.Output()
}

func (m *mutant) Ended() <-chan struct{} {
	if m.ended != nil {
		return m.ended
	}
	return m.Held.Ended()
}

func (m *mutant) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	if m.ends != nil {
		m.ends.Add(1)
	}
	res, err := m.Held.End(ctx, stop)
	if m.fail != nil {
		res.Failure = m.fail
	}
	return res, err
}

// Whatever goes wrong is told, and every container that was held is ended.
func TestDensityFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for ramps that fail: left out with -short")
	}
	gone := make(chan struct{})
	close(gone)
	for name, c := range map[string]struct {
		at    func(n int, m *mutant) error
		class record.Class // of the failure; "": none
		limit string
		held  int // containers that were held in all
	}{
		"no word": {func(n int, m *mutant) error {
			if n == 4 {
				m.output = []byte("plimsoll 1 other first 7\n")
			}
			return nil
		}, record.NoProof, "", 4},
		"dies": {func(n int, m *mutant) error {
			if n == 4 {
				m.ended = gone
			}
			return nil
		}, "", record.LimitDied, 4},
		"refused at once": {func(int, *mutant) error {
			return &engine.Error{Class: record.EngineError, Text: "exchange full"}
		}, record.EngineError, "", 0},
		"refused": {func(n int, _ *mutant) error {
			if n == 4 {
				return &engine.Error{Class: record.EngineError, Text: "adding veth to bridge: exchange full"}
			}
			return nil
		}, "", record.LimitBridge, 3},
		"slow": {func(n int, _ *mutant) error {
			if n == 4 {
				return &engine.Error{Class: record.TimeOut, Text: "no first byte came"}
			}
			return nil
		}, "", record.LimitTime, 3},
		"unclean": {func(n int, m *mutant) error {
			if n == 4 {
				m.fail = &record.Failure{Class: record.UncleanEnd, Text: "a mount is left"}
			}
			return nil
		}, record.UncleanEnd, "", 10},
		"panics": {func(n int, _ *mutant) error {
			if n == 4 {
				panic("oh")
			}
			return nil
		}, "", record.LimitEngine, 3},
	} {
		t.Run(name, func(t *testing.T) {
			held, ends := 0, atomic.Int64{}
			f := faulty{spoiled{Fake: fake.New(), name: "faulty"}, func(n int, h engine.Held, err error) (engine.Held, error) {
				m := &mutant{Held: h, ends: &ends}
				if err := c.at(n, m); err != nil || h == nil {
					return nil, err
				}
				held++
				return m, err
			}}
			o := protocolOf(t, "  - {name: density, parameters: {count: \"10\"}}\n", "  - engine: faulty\n", f)
			tr := carried(t, o)["faulty"]
			if c.class == "" != tr.OK() || !tr.OK() && tr.Failure.Class != c.class {
				t.Fatalf("failure %+v, want %q", tr.Failure, c.class)
			}
			if c.limit != "" {
				if d := ramps.ReadRamp(series[record.DensityStep](t, o.Dir, tr)); d.Limit == nil || d.Limit.Class != c.limit {
					t.Errorf("limit %+v, want %s", d.Limit, c.limit)
				}
			}
			if held != c.held || int(ends.Load()) != held {
				t.Errorf("%d were held and %d ended, want %d", held, ends.Load(), c.held)
			}
		})
	}
}

// An interruption in the middle of a ramp leaves nothing.
func TestDensityInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	held, ends := 0, atomic.Int64{}
	f := faulty{spoiled{Fake: fake.New(), name: "faulty"}, func(n int, h engine.Held, err error) (engine.Held, error) {
		held++
		if n == 7 {
			cancel()
		}
		return &mutant{Held: h, ends: &ends}, err
	}}
	o := protocolOf(t, "  - {name: density, parameters: {count: \"20\"}}\n", "  - engine: faulty\n", f)
	sum, err := Execute(ctx, o)
	if err != nil || !sum.Interrupted || sum.Trials != 0 {
		t.Errorf("%+v, %v", sum, err)
	}
	if held != 7 || ends.Load() != 7 {
		t.Errorf("%d were held and %d ended", held, ends.Load())
	}
}
