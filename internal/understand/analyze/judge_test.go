package analyze_test

import (
	"math"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// inMemory analyses block medians by environment; the first is native.
func inMemory(t *testing.T, values ...[]float64) *analyze.Table {
	t.Helper()
	run := &record.Run{Format: record.FormatVersion, Status: "done", Workloads: []record.Workload{{ID: "w", Metrics: []record.Metric{{ID: "time", Unit: "ns", Better: record.LowerIsBetter}}}}}
	var trials []record.Trial
	for e := range values {
		env := record.Environment{ID: string(rune('a' + e))}
		if e == 0 {
			env.Baseline = "native"
		}
		run.Environments = append(run.Environments, env)
		for b, v := range values[e] {
			trials = append(trials, record.Trial{Seq: len(trials), Block: b, Env: env.ID, Workload: "w", Values: map[string]float64{"time": v}})
		}
	}
	res, err := evaluate.Run(record.InMemory(run, trials), evaluate.Options{})
	require.NoError(t, err)
	return res.Workloads[0].Table("time")
}

// One environment that lies 5 % off is marked by itself, and not among thirty
// others that do not: there it may be the luckiest of them.
func TestMarksAreCorrected(t *testing.T) {
	native := []float64{100, 100, 100, 100, 100, 100, 100, 100}
	off := []float64{101.8, 110, 102, 109, 101.6, 108, 102.5, 111}
	alike := []float64{99, 101, 98, 102, 97, 103, 96, 104}
	if r := inMemory(t, native, off).Cell("b").Ratio("native"); r.Verdict != analyze.Differs || r.Holm == nil || *r.Holm != *r.P {
		t.Errorf("alone: %s, p %v, %v", r.Verdict, r.P, r.Holm)
	}
	envs := [][]float64{native, off}
	for range 30 {
		envs = append(envs, alike)
	}
	r := inMemory(t, envs...).Cell("b").Ratio("native")
	if r.Verdict != analyze.CannotTell || r.BlocksNeeded <= 8 || *r.Holm <= *r.P || *r.Lo < 1.01 {
		t.Errorf("among many: %s, %d blocks needed, p %v, %v", r.Verdict, r.BlocksNeeded, *r.P, *r.Holm)
	}
}

// Rounded values that change places are a tie to the ranks.
func TestTiesOfRatios(t *testing.T) {
	d, _, _, ok := sample.LogRatios([]float64{105, 100, 110, 105}, []float64{100, 105, 105, 110})
	if !ok || d[0] != -d[1] || d[2] != -d[3] {
		t.Errorf("%v", d)
	}
}

// Of many pairs in few blocks, one whose differences happen to be the same is
// no more certain than the others.
func TestNoCertaintyByAccident(t *testing.T) {
	var family []sample.Sample
	for i := range 200 {
		s := sample.Sample{Paired: true}
		for b := range 6 {
			s.X = append(s.X, 0.4*math.Sin(float64(i*7+b*b*3+b)))
		}
		family = append(family, s)
	}
	same := sample.Sample{Paired: true, X: []float64{0.4, 0.4, 0.4, 0.4, 0.4, 0.4}}
	if p := same.P(0, sample.TestOf([]sample.Sample{same}, sample.MinT, sample.Alpha)); p > 0.04 {
		t.Errorf("one pair by itself: p is %v", p)
	}
	by := sample.TestOf(append(family, same), sample.MinT, sample.Alpha)
	if p := same.P(0, by); by.Ranks || by.Least == 0 || p < 1e-3 {
		t.Errorf("among many: p is %v by %+v", p, by)
	}
	far := sample.Sample{Paired: true, X: []float64{5, 5.1, 4.9, 5, 5.2, 4.8}}
	if p := far.P(0, by); p > 0.05/200 {
		t.Errorf("a hundredfold is lost: p is %v", p)
	}
}

// Trials of one block that are alike carry no interval in few blocks.
func TestFewBlocks(t *testing.T) {
	s := recordtest.Typical()
	s.Blocks, s.PerBlock, s.Shared = 3, 10, 0.2 // the blocks differ far more than their trials
	res := analyzetest.Run(t, s)
	c := analyzetest.Cell(t, res, "startup", "runc")
	if c.N != 30 || c.Median.Lo != nil {
		t.Errorf("%d values in 3 blocks: %+v", c.N, c.Median)
	}
	if !analyzetest.Has(res, "few", "runc", "startup") {
		t.Errorf("no remark: %s", analyzetest.Codes(res))
	}
}
