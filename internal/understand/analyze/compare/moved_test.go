package compare_test

import (
	"math"
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// later makes the time between two events of one environment longer.
func later(env string, from, to record.Event, by int64) func(*record.Trial) {
	return func(t *record.Trial) {
		if t.Env != env {
			return
		}
		at := t.Events[to]
		if at == 0 || t.Events[from] == 0 {
			return
		}
		for e, x := range t.Events {
			if x >= at {
				t.Events[e] = x + by
			}
		}
	}
}

func largest(parts []compare.Part) compare.Part {
	return slices.MaxFunc(parts, func(a, b compare.Part) int {
		return int(math.Copysign(1, math.Abs(a.By.Value)-math.Abs(b.By.Value)))
	})
}

// TestMoved: a delay between two events is found in the step that lies between them,
// by its size, on a machine that is slower that day; and nowhere else.
func TestMoved(t *testing.T) {
	const delay = 8e6
	quiet := func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 40, 2 }
	base := analyzetest.Run(t, analyzetest.Session(11, 1, quiet))
	for i, c := range []struct {
		step     string
		from, to record.Event
	}{{"create", record.Request, record.Created}, {"start", record.Start, record.First}, {"shutdown", record.Done, record.Exit}, {"removal", record.Exit, record.Removed}} {
		next := analyzetest.Run(t, recordtest.Edited{Spec: analyzetest.Session(uint64(30+i), 1.03, quiet), Each: later("runc", c.from, c.to, delay)})
		got, err := compare.Between(base, next, compare.Options{})
		require.NoError(t, err)
		if len(got.Moved) != 1 || got.Moved[0].Env != "runc" {
			t.Fatalf("8 ms in %s: %d moved: %+v", c.step, len(got.Moved), got.Moved)
		}
		m := got.Moved[0]
		most := largest(m.Steps)
		if most.Name != c.step || !most.Beyond || math.Abs(most.By.Value-delay/1.03) > 0.15*delay {
			t.Errorf("8 ms in %s of runc: %s: %+v", c.step, m.Metric.ID, m.Steps)
		}
		for _, p := range m.Steps {
			if p.Name != c.step && math.Abs(p.By.Value) > 0.1*delay {
				t.Errorf("8 ms in %s of runc: %+v", c.step, p)
			}
		}
	}
	// The steps of one that has not changed are not told.
	same, err := compare.Between(base, analyzetest.Run(t, analyzetest.Session(40, 1, quiet)), compare.Options{})
	if err != nil || len(same.Moved) > 0 {
		t.Errorf("nothing has changed: %v %+v", err, same.Moved)
	}
}

// TestMovedMechanism: where both runs took the engine apart, the mechanism whose cost
// alone has changed beyond its interval is named.
func TestMovedMechanism(t *testing.T) {
	quiet := func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 40, 2 }
	a := analyzetest.Run(t, analyzetest.Session(11, 1, quiet))
	b := analyzetest.Run(t, recordtest.Edited{Spec: analyzetest.Session(12, 1, quiet), Each: later("runc", record.Start, record.First, 8e6)})
	is := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	taken := func(network, seccomp float64) []*ablation.Waterfall {
		return []*ablation.Waterfall{{
			Engine: "oci", Workload: a.Workloads[0].ID, Metric: record.Metric{ID: "whole"}, Base: ablation.Level{Env: "runc"},
			Steps: []ablation.Step{
				{Of: "oci", Mechanism: "network", Alone: is(network, 1e6)}, {Of: "oci", Mechanism: "seccomp", Alone: is(seccomp, 1e6)},
				{Of: "oci", Mechanism: "gone"}, {Of: "oci", Kind: ablation.Last},
			},
		}}
	}
	a.Ablations, b.Ablations = taken(3e6, 2e6), taken(11e6, 2.5e6)
	c, err := compare.Between(a, b, compare.Options{})
	if err != nil || len(c.Moved) != 1 {
		t.Fatalf("%v %+v", err, c.Moved)
	}
	m := c.Moved[0].Mechanisms
	if len(m) != 1 || m[0].Name != "network" || math.Abs(m[0].By.Value-8e6) > 1 || math.Abs(*m[0].By.Lo-(8e6-math.Sqrt2*1e6)) > 1 {
		t.Errorf("%s: %+v", c.Moved[0].Metric.ID, m)
	}
}
