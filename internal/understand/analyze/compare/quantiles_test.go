package compare_test

import (
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/gate"
)

// keeping analyses a run and keeps its values.
func keeping(t testing.TB, s recordtest.Spec) *analyze.Result {
	t.Helper()
	r, err := evaluate.Run(s.Open(t), evaluate.Options{Values: true})
	require.NoError(t, err)
	return r
}

// A tail that became longer is found where the median is the same, and nowhere
// else; with too few values it is said how many it takes.
func TestQuantileOfATail(t *testing.T) {
	of := func(seed uint64, blocks int, change func(*recordtest.Spec)) *analyze.Result {
		return keeping(t, analyzetest.Session(seed, 1, func(s *recordtest.Spec) {
			s.Blocks, s.PerBlock = blocks, 5
			if change != nil {
				change(s)
			}
		}))
	}
	o := compare.Options{Quantile: 0.95, Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}}
	// runc's spread is four times as large in NEW.
	next := of(2, 60, func(s *recordtest.Spec) { s.Envs[3].Sigma = 0.12 })
	base := of(1, 60, nil)
	c, err := compare.Between(base, next, o)
	require.NoError(t, err)
	if len(c.Quantiles) != 5 {
		t.Fatalf("%d quantiles", len(c.Quantiles))
	}
	for _, q := range c.Quantiles {
		if (q.Verdict == compare.Worse) != (q.Env == "runc") || q.Ratio == nil || q.Missing != "" || q.BaseN != 300 {
			t.Errorf("%s: %s, %+v, n %d", q.Env, q.Verdict, q.Ratio, q.BaseN)
		}
	}
	if v := analyzetest.Find(c, "startup", "runc").Verdict; v == compare.Worse {
		t.Error("runc's median is worse")
	}
	// It is no cell of the gate.
	if err := gate.Judge(c, gate.Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Gated != 5 || c.Gate.State == compare.GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
	if c, err = compare.Within(next, "crun", "runc", compare.Options{Quantile: 0.95, Filter: o.Filter}); err != nil || len(c.Quantiles) != 1 || c.Quantiles[0].Verdict != compare.Worse || c.Quantiles[0].NewEnv != "runc" {
		t.Errorf("%v %+v", err, c)
	}
	o.Quantile = 0.99
	if c, err = compare.Between(base, next, o); err != nil || c.Quantiles[0].Ratio != nil || !strings.Contains(c.Quantiles[0].Missing, "p99 needs 368") {
		t.Errorf("%v %+v", err, c.Quantiles)
	}
	// Without the values, or with some that have no logarithm, nothing is invented.
	o.Quantile = 0.95
	if c, err = compare.Between(analyzetest.Run(t, analyzetest.Session(1, 1, nil)), next, o); err != nil || c.Quantiles[0].Ratio != nil || c.Quantiles[0].Missing == "" {
		t.Errorf("%v %+v", err, c.Quantiles)
	}
	base.Workload("hello").Table("startup").Cell("crun").Values[0][0] = 0
	if c, err = compare.Between(base, next, o); err != nil || c.Quantiles[2].Missing != "a value is 0 or negative: it has no ratio" {
		t.Errorf("%v %+v", err, c.Quantiles[2])
	}
}
