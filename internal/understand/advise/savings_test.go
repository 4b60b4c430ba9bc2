package advise

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// A run in which something was taken away, or added, gives the price of a change, and
// no environment to choose.
func TestSavings(t *testing.T) {
	surely := func(v float64) *sample.Estimate {
		lo, hi := v-1, v+1
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	apart := read(t, spec(native(ms, nil), env("strong/without-network", 20*ms, nil), env("other", 20*ms, nil)))
	of := func(engine string, steps ...ablation.Step) *ablation.Waterfall {
		for i := range steps {
			steps[i].Kind, steps[i].Of, steps[i].Price = ablation.Mechanism, engine, "a price"
		}
		return &ablation.Waterfall{Engine: engine, Base: ablation.Level{Median: surely(200)}, Metric: record.Metric{ID: "startup"}, Steps: steps}
	}
	apart.Ablations = []*ablation.Waterfall{
		of("strong", ablation.Step{Mechanism: "small", Alone: surely(5)}, ablation.Step{Mechanism: "network", Alone: surely(70)}, ablation.Step{Mechanism: "nothing", Alone: surely(0.5)}),
		of("other", ablation.Step{Mechanism: "network", Alone: surely(70)}),
	}
	apart.Ablations[0].Added = []ablation.Step{{Mechanism: "init", Price: "orphans are reaped", Alone: surely(3)}, {Mechanism: "journal", Alone: surely(40)},
		{Mechanism: "once", Alone: &sample.Estimate{Value: 5}}, {Mechanism: "not here", Missing: "no journal"}}
	a := advice(t, profile(1, 1, 1), read(t, three()), apart)
	if len(a.Savings) != 2 || a.Savings[0].Mechanism != "network" || a.Savings[1].Mechanism != "small" || a.Savings[0].Engine != "strong" || a.Savings[0].Base != 200 || a.Savings[0].Run != apart.Run.ID {
		t.Errorf("%+v", a.Savings)
	}
	if len(a.Additions) != 2 || a.Additions[0].Mechanism != "journal" || a.Additions[1].Gives != "orphans are reaped" || a.Additions[1].Costs.Value != 3 || a.Additions[1].Base != 200 {
		t.Errorf("%+v", a.Additions)
	}
	for _, r := range a.Ranked {
		if r.Engine == "other" || r.Env == "strong/without-network" {
			t.Errorf("%s is to be chosen", r.Env)
		}
	}
	if len(a.Runs) != 2 {
		t.Errorf("the advice rests on %+v", a.Runs)
	}
	if b := advice(t, profile(1, 0, 0), []*analyze.Result{apart}...); len(b.Ranked) == 0 {
		t.Error("nothing is ranked where there is no other run")
	}
}
