package ablation

import (
	"math"
	"testing"

	"plimsoll/internal/record"
)

// A rate: each call takes 1 µs by itself, and a, b and c make it longer by 0.3, 0.2
// and 0.1 µs, whatever else does.
func rated() (*record.Ablation, map[string]float64) {
	a := &record.Ablation{Engine: "top", Base: "base", Steps: []record.AblationStep{
		{Mechanism: "a", Price: "no a", With: "base", Without: "-a", After: "-a"},
		{Mechanism: "b", Price: "no b", With: "base", Without: "-b", After: "-a-b"},
		{Mechanism: "c", With: "base", Without: "-c", After: "-a-b-c"},
	}, HeldOut: []record.HeldOut{{Env: "-b-c", Mechanisms: []string{"b", "c"}}}, Below: []record.Below{{Engine: "floor", Env: "floor"}, {Engine: "native", Env: "native"}}}
	of := map[string]float64{}
	for env, µs := range map[string]float64{"base": 1.6, "-a": 1.3, "-b": 1.4, "-c": 1.5, "-a-b": 1.1, "-a-b-c": 1.0, "-b-c": 1.3, "floor": 1.0, "native": 1.0} {
		of[env] = 1e6 / µs
	}
	return a, of
}

// What lowers a rate costs something, and is a part of what there is without it. The
// times add up, and so no two of them belong together.
func TestRate(t *testing.T) {
	a, of := rated()
	calls := record.Metric{ID: "calls", Unit: "ops/s", Better: record.HigherIsBetter}
	w := Of(a, "syscalls", calls, newMachine(2, 40, 0.005, of).column)
	for i, rate := range []float64{1e6/1.3 - 1e6/1.6, 1e6/1.1 - 1e6/1.3, 1e6/1.0 - 1e6/1.1} {
		s := w.Steps[i]
		if s.Chain == nil || math.Abs(s.Chain.Value-rate) > 0.15*rate || math.Abs(s.Share-rate/1e6) > 0.03 {
			t.Errorf("%s costs %+v, %.2f of all; truth %v", s.Mechanism, s.Chain, s.Share, rate)
		}
		if s.Together != nil {
			t.Errorf("%s does nothing with another one: %+v", s.Mechanism, s.Together)
		}
		if before := w.Before(&s); i > 0 && math.Abs(before-w.Steps[i-1].After.Median.Value) > 0.02*before {
			t.Errorf("before %s there was %v", s.Mechanism, before)
		}
	}
	if w.Steps[3].Kind != Last || w.Steps[4].Kind != Bare || w.Floor.Env != "native" || w.Top() != w.Floor.Median.Value {
		t.Errorf("%+v, %+v", w.Steps[3:], w.Floor)
	}
	if h := w.HeldOut[0]; !h.Fits || math.Abs(h.Off.Value) > 0.02*h.Measured.Value {
		t.Errorf("%+v, %+v", h, h.Off)
	}
	if s := w.Savings(); len(s) != 2 || s[0].Mechanism != "a" {
		t.Errorf("%+v", s)
	}
	if l := w.Largest(); len(l) != 3 || l[0].Mechanism != "a" {
		t.Errorf("%+v", l)
	}
}

// A running workload's time is mostly its own: a prediction that is off by as much as
// all of the engine's part is none, near as it may be to the whole.
func TestPredictedOverhead(t *testing.T) {
	a := &record.Ablation{Engine: "top", Base: "base", Steps: []record.AblationStep{
		{Mechanism: "a", With: "base", Without: "-a", After: "-a"}, {Mechanism: "b", With: "base", Without: "-b", After: "-a-b"},
	}, HeldOut: []record.HeldOut{{Env: "both", Mechanisms: []string{"a", "b"}}}, Below: []record.Below{{Engine: "native", Env: "native"}}}
	of := map[string]float64{"base": 100, "-a": 99, "-b": 99, "-a-b": 98, "both": 99, "native": 98}
	for _, metric := range []record.Metric{{ID: "time", Unit: "ns", Better: record.LowerIsBetter}, startup} {
		w := Of(a, "python", metric, newMachine(5, 40, 0.0005, of).column)
		if h := w.HeldOut[0]; h.Fits != (metric.From != "") || math.Abs(h.Off.Value-1) > 0.3 {
			t.Errorf("%s: %+v (%+v)", metric.ID, h, h.Off)
		}
	}
}
