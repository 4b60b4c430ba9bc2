package report

import (
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze/sample"
)

// A time becomes less without a mechanism, a rate more.
func TestAdviceChanges(t *testing.T) {
	for better, want := range map[record.Direction]string{record.LowerIsBetter: "saves", record.HigherIsBetter: "gains"} {
		l := adviceChanges(&advise.Advice{Savings: []advise.Saving{{Engine: "engine", Mechanism: "seccomp", Price: "every call", Saves: sample.Estimate{Value: 40}, Base: 900,
			Metric: record.Metric{Unit: "ops/s", Better: better}}}})
		if got := l.items[0].Text[0].Text; !strings.Contains(got, "without seccomp "+want+" 40.0 ops/s of 900 ops/s") {
			t.Errorf("%s: %s", better, got)
		}
	}
}

// What is added costs, or takes from a rate; what can't be told from nothing says so.
func TestAdviceAdditions(t *testing.T) {
	of := func(mechanism string, lo, v, hi float64) advise.Addition {
		return advise.Addition{Engine: "engine", Mechanism: mechanism, Gives: "orphans are reaped", Costs: sample.Estimate{Value: v, Lo: &lo, Hi: &hi}, Base: 900, Metric: record.Metric{Unit: "ops/s"}}
	}
	a := &advise.Advice{Additions: []advise.Addition{of("init", 30, 40, 50), of("journal", -3, 2, 7), of("limits", -9, -5, -1)}}
	for better, want := range map[record.Direction]string{record.LowerIsBetter: "with init costs 40.0 ops/s on top of 900 ops/s; orphans are reaped",
		record.HigherIsBetter: "with init loses 40.0 ops/s of 900 ops/s; orphans are reaped"} {
		for i := range a.Additions {
			a.Additions[i].Metric.Better = better
		}
		l := adviceAdditions(a)
		if len(l.items) != 2 || !strings.Contains(l.items[0].Text[0].Text, want) || !strings.Contains(l.items[1].Text[0].Text, "with journal and limits: no measurable cost") {
			t.Errorf("%s: %+v", better, l.items)
		}
	}
}
