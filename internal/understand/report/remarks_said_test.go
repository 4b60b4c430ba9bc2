package report

import (
	"testing"

	"plimsoll/internal/record"
)

// What is remarked of one environment in many workloads is one sentence, with the range
// of its numbers and the workloads; a run of one workload names none.
func TestRemarksAreMerged(t *testing.T) {
	remark := func(env, work, text string) record.Remark {
		return record.Remark{Code: "drift", Env: env, Workload: work, Text: text}
	}
	for _, c := range []struct {
		works   int
		remarks []record.Remark
		want    string
	}{
		{5, []record.Remark{
			remark("native", "load/threads-1", "values fell over the run (τ -0.48)"), remark("native", "load/threads-16", "values fell over the run (τ -0.69)"),
			remark("native", "sha256sum", "values fell over the run (τ -0.34)"), remark("native", "load/threads-4", "values rose over the run (τ 0.5)"),
		}, "native: values fell over the run (τ -0.69 to -0.34), in 3 of 5 workloads (load/threads-{1,16}, sha256sum); native: values rose over the run (τ 0.5), in 1 of 5 workloads (load/threads-4)"},
		{2, []record.Remark{remark("a", "x", "two humps (1 %)."), remark("b", "x", "two humps (1 %)."), remark("a", "y", "two humps (1 %)."), remark("b", "y", "two humps (1 %).")},
			"a, b: two humps (1 %), in all workloads"},
		{1, []record.Remark{remark("a", "x", "rose (τ 0.5)"), remark("b", "x", "rose (τ 0.5)"), remark("c", "x", "rose (τ 0.6).")}, "a, b: rose (τ 0.5); c: rose (τ 0.6)."},
		{9, []record.Remark{{Text: "24 trials: slow."}, {Text: "2 CPUs are few"}}, "24 trials: slow; 2 CPUs are few"},
		{3, []record.Remark{remark("a", "x", "2 trials: loud"), remark("a", "y", "1 trial: loud")}, "3 trials of a: loud, in 2 of 3 workloads (x, y)"},
	} {
		g := remarkGroup{remarks: c.remarks, works: c.works}
		if got := g.text(); got != c.want {
			t.Errorf("%q\nwant %q", got, c.want)
		}
	}
}
