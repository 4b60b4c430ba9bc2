package analyze_test

import (
	"math"
	"testing"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/sample"
)

// The paper's formulas, on numbers that can be followed in the head.
func TestOverheadFormulas(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	for _, c := range []struct {
		pb, pi float64
		better record.Direction
		want   float64
	}{
		{100, 80, record.HigherIsBetter, 0.2},
		{100, 125, record.HigherIsBetter, -0.25},
		{100, 125, record.LowerIsBetter, 0.2},
		{100, 80, record.LowerIsBetter, -0.25},
		{100, 100, record.LowerIsBetter, 0},
	} {
		r := c.pi / c.pb
		o := analyze.OverheadOf(sample.Estimate{Value: r, Lo: f(r * 0.9), Hi: f(r * 1.1)}, c.better)
		if math.Abs(o.Value-c.want) > 1e-12 || !(*o.Lo < o.Value && o.Value < *o.Hi) {
			t.Errorf("%+v: %v [%v, %v]", c, o.Value, *o.Lo, *o.Hi)
		}
	}
	if o := analyze.OverheadOf(sample.Estimate{Value: 2}, record.LowerIsBetter); o.Lo != nil || o.Value != 0.5 {
		t.Errorf("an interval from nothing: %+v", o)
	}
}

// The heat map of a run with known truth, and its geometric means.
func TestOverheadOfSuite(t *testing.T) {
	spec := recordtest.Suite()
	res := analyzetest.Run(t, spec)
	if len(res.Overhead) != 1 || res.Overhead[0].Baseline != "native" {
		t.Fatalf("%d heat maps", len(res.Overhead))
	}
	o := &res.Overhead[0]
	if len(o.Rows) != 4 || len(o.Suites) != 2 || o.Suites[0].Name != "files" || o.Suites[1].Name != analyze.AllRows {
		t.Fatalf("%d rows, %+v", len(o.Rows), o.Suites)
	}
	cost := func(env int, w record.Workload) float64 {
		c := spec.Value(env, w) / spec.Value(0, w)
		if w.Metrics[0].Better == record.HigherIsBetter {
			return 1 / c
		}
		return c
	}
	for e, env := range o.Environments {
		if env == "flaky" {
			continue
		}
		sum := 0.0
		for i, row := range o.Rows {
			want := 1 - 1/cost(e+1, spec.Workloads[i])
			sum += math.Log(cost(e+1, spec.Workloads[i]))
			if c := row.Cells[e]; c.Overhead == nil || !(*c.Overhead.Lo-0.01 <= want && want <= *c.Overhead.Hi+0.01) {
				t.Errorf("%s, %s: %+v, want %v", env, row.Workload, c.Overhead, want)
			}
		}
		want := 1 - math.Exp(-sum/4)
		if c := o.Suites[1].Cells[e]; c.Overhead == nil || math.Abs(c.Overhead.Value-want) > 0.02 {
			t.Errorf("%s, all: %+v, want %v", env, c.Overhead, want)
		}
	}
	// A mean over what is left would be of another suite.
	last := o.Suites[1].Cells[len(o.Environments)-1]
	if last.Env != "flaky" || last.Overhead != nil || last.Missing == "" {
		t.Errorf("%+v", last)
	}
	if res.OverheadOf("floor", "") != nil || len(res.OverheadOf("native", "startup").Rows) != 4 {
		t.Error("a baseline that did not run, or a metric that all have")
	}
}

// The mean of a suite is that of the block logs, with the interval of ratios.
func TestSuiteInterval(t *testing.T) {
	res := analyzetest.Run(t, recordtest.Suite())
	o := res.OverheadOf("native", "")
	var d []float64
	for b := range res.Run.Blocks {
		sum := 0.0
		for _, row := range o.Rows {
			x := *res.Workload(row.Workload).Table(row.Metric.ID).Cells[1].BlockMedians[b] / *res.Workload(row.Workload).Table(row.Metric.ID).Cells[0].BlockMedians[b]
			if row.Metric.Better == record.HigherIsBetter {
				x = 1 / x
			}
			sum += math.Log(x)
		}
		d = append(d, sum/4)
	}
	center, i, ok := stats.PseudoMedian(d, stats.Level)
	got := o.Suites[1].Cells[0].Overhead
	if !ok || math.Abs(got.Value-(1-math.Exp(-center))) > 1e-9 || math.Abs(*got.Lo-(1-math.Exp(-i.Lo))) > 1e-9 || math.Abs(*got.Hi-(1-math.Exp(-i.Hi))) > 1e-9 {
		t.Errorf("%v [%v, %v], want %v %v", got.Value, *got.Lo, *got.Hi, 1-math.Exp(-center), i)
	}
}
