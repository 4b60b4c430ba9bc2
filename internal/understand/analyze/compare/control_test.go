package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

var startup = []compare.Filter{{Key: "metric", Values: []string{"startup"}}}

func width(c *compare.Change) float64 { return *c.Ratio.Hi / *c.Ratio.Lo }

// A native that now and then takes ten times as long makes nothing else blunt
// unless it is asked for.
func TestWildNative(t *testing.T) {
	wild := func(seed uint64) *analyze.Result {
		spec := analyzetest.Session(seed, 1, func(s *recordtest.Spec) { s.Envs[1].Sigma = 0.2 })
		r := rand.New(rand.NewPCG(seed, 7))
		return analyzetest.Run(t, recordtest.Edited{Spec: spec, Each: func(x *record.Trial) {
			if x.Env == "native" && r.Float64() < 0.4 {
				x.Events[record.Request] -= 9 * (x.Events[record.First] - x.Events[record.Request])
			}
		}})
	}
	base, next := wild(1), wild(2)
	of := func(against string) *compare.Change {
		c, err := compare.Between(base, next, compare.Options{Against: against, Filter: startup})
		require.NoError(t, err)
		return analyzetest.Find(c, "startup", "runc")
	}
	native, none, learnt := of("native"), of("none"), of("")
	span := func(c *compare.Change) float64 { return math.Log(width(c)) }
	if span(native) < 1.5*span(learnt) || span(learnt) > 1.3*span(none) || learnt.Control.Baselines[0].Weight > 0.1 {
		t.Errorf("spans by native %.3f, by none %.3f, learnt %.3f: %+v", span(native), span(none), span(learnt), learnt.Control)
	}
	if native.Control != nil || native.Against != "native" || none.Control != nil || !none.Absolute() || learnt.Absolute() {
		t.Errorf("what was asked for is not what was done: %+v %+v", native, none)
	}
}

// What scatters between runs of the same thing is in the interval where earlier
// runs tell, and nothing else of them is: BASE itself, other studies, other
// machines. Too few of them are said to be too few.
func TestEarlierRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	run := func(i int) *analyze.Result {
		return analyzetest.Run(t, analyzetest.Session(uint64(20+i), 1, func(s *recordtest.Spec) {
			s.Blocks, s.ID, s.Started = 10, fmt.Sprintf("r%02d", i), time.Date(2026, 5, 1+i, 0, 0, 0, 0, time.UTC)
			s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, math.Exp(0.1*r.NormFloat64()))
		}))
	}
	var runs []*analyze.Result
	for i := range 9 {
		runs = append(runs, run(i))
	}
	other := run(9)
	other.Run.Study = "other"
	elsewhere := run(10)
	elsewhere.Run.Host.CPU = "other"
	of := func(earlier ...*analyze.Result) (*compare.Change, []string) {
		c, err := compare.Between(runs[0], runs[1], compare.Options{Filter: startup, Earlier: earlier})
		require.NoError(t, err)
		var codes []string
		for _, m := range c.Remarks {
			codes = append(codes, m.Code+" "+m.Level)
		}
		return analyzetest.Find(c, "startup", "runc"), codes
	}
	alone, codes := of()
	few, _ := of(runs[:5]...)
	known, _ := of(append(slices.Clone(runs), other, elsewhere, runs[3])...)
	if alone.Control.Runs != 0 || few.Control.Runs != 0 || known.Control.Runs != 7 || !slices.Contains(codes, "between-runs info") {
		t.Errorf("%+v %+v %+v %v", alone.Control, few.Control, known.Control, codes)
	}
	// Without a baseline the runs themselves still tell how much they scatter.
	for _, r := range append(slices.Clone(runs), other) {
		r.Workloads[0].Tables = slices.Clone(r.Workloads[0].Tables)
		for t := range r.Workloads[0].Tables {
			table := &r.Workloads[0].Tables[t]
			table.Cells = slices.Clone(table.Cells)
			for i := range table.Cells {
				table.Cells[i].Ratios = nil
			}
		}
	}
	bare, _ := of(runs...)
	if bare.Control == nil || len(bare.Control.Baselines) != 0 || bare.Control.Runs != 7 || bare.Absolute() || width(bare) < 1.3 {
		t.Errorf("without baselines: %+v %+v", bare.Ratio, bare.Control)
	}
	if none, _ := of(runs[2]); none.Control != nil || !none.Absolute() {
		t.Errorf("without baselines and with one earlier run: %+v", none.Control)
	}
	if width(known) < 1.3 || width(alone) > 1.2 || known.Verdict != compare.Unclear || known.Control.Between < 0.05 || known.BlocksNeeded != 0 {
		t.Errorf("alone %v, with earlier runs %v: %+v", alone.Ratio, known.Ratio, known)
	}
}

// Two humps are said where the scatter between runs is not known, and not of values
// with one.
func TestHumpsAreSaid(t *testing.T) {
	run := func(seed uint64, humps bool) *analyze.Result {
		r := rand.New(rand.NewPCG(seed, 9))
		return analyzetest.Run(t, recordtest.Edited{Spec: analyzetest.Session(seed, 1, func(s *recordtest.Spec) { s.Blocks = 30 }), Each: func(x *record.Trial) {
			if humps && x.Env == "runc" && r.Float64() < 0.5 {
				x.Events[record.Request] -= x.Events[record.First] - x.Events[record.Request]
			}
		}})
	}
	for _, humps := range []bool{true, false} {
		c, err := compare.Between(run(1, humps), run(2, humps), compare.Options{Filter: startup})
		require.NoError(t, err)
		if got := slices.ContainsFunc(c.Remarks, func(r record.Remark) bool { return r.Code == "humps" }); got != humps {
			t.Errorf("humps %v: said %v", humps, got)
		}
	}
}
