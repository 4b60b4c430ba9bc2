package analyze

import (
	"strings"
	"testing"

	"plimsoll/internal/record/recordtest"
)

// keeping analyses a run and keeps its values.
func keeping(t testing.TB, s recordtest.Spec) *Result {
	t.Helper()
	r, err := Run(s.Open(t), Options{Values: true})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A tail that became longer is found where the median is the same, and nowhere
// else; with too few values it is said how many it takes.
func TestQuantileOfATail(t *testing.T) {
	of := func(seed uint64, blocks int, change func(*recordtest.Spec)) *Result {
		return keeping(t, session(seed, 1, func(s *recordtest.Spec) {
			s.Blocks, s.PerBlock = blocks, 5
			if change != nil {
				change(s)
			}
		}))
	}
	o := CompareOptions{Quantile: 0.95, Filter: []Filter{{"metric", []string{"startup"}}}}
	// runc's spread is four times as large in NEW.
	next := of(2, 60, func(s *recordtest.Spec) { s.Envs[3].Sigma = 0.12 })
	base := of(1, 60, nil)
	c, err := Between(base, next, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Quantiles) != 5 {
		t.Fatalf("%d quantiles", len(c.Quantiles))
	}
	for _, q := range c.Quantiles {
		if (q.Verdict == Worse) != (q.Env == "runc") || q.Ratio == nil || q.Missing != "" || q.BaseN != 300 {
			t.Errorf("%s: %s, %+v, n %d", q.Env, q.Verdict, q.Ratio, q.BaseN)
		}
	}
	if v := find(c, "startup", "runc").Verdict; v == Worse {
		t.Error("runc's median is worse")
	}
	// It is no cell of the gate.
	if err := c.Judge(Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Gated != 5 || c.Gate.State == GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
	if c, err = Within(next, "crun", "runc", CompareOptions{Quantile: 0.95, Filter: o.Filter}); err != nil || len(c.Quantiles) != 1 || c.Quantiles[0].Verdict != Worse || c.Quantiles[0].NewEnv != "runc" {
		t.Errorf("%v %+v", err, c)
	}
	o.Quantile = 0.99
	if c, err = Between(base, next, o); err != nil || c.Quantiles[0].Ratio != nil || !strings.Contains(c.Quantiles[0].Missing, "p99 needs 368") {
		t.Errorf("%v %+v", err, c.Quantiles)
	}
	// Without the values, or with some that have no logarithm, nothing is invented.
	o.Quantile = 0.95
	if c, err = Between(analyze(t, session(1, 1, nil)), next, o); err != nil || c.Quantiles[0].Ratio != nil || c.Quantiles[0].Missing == "" {
		t.Errorf("%v %+v", err, c.Quantiles)
	}
	base.Workload("hello").Table("startup").Cell("crun").Values[0][0] = 0
	if c, err = Between(base, next, o); err != nil || c.Quantiles[2].Missing != "a value is 0 or negative: it has no ratio" {
		t.Errorf("%v %+v", err, c.Quantiles[2])
	}
}
