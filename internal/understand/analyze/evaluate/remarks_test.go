package evaluate_test

import (
	"slices"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/evaluate"
)

// disturbed is a quiet run but for what change does to it and to its trials.
func disturbed(t *testing.T, change func(*recordtest.Spec), each func(*record.Trial)) *analyze.Result {
	t.Helper()
	s := recordtest.Typical()
	s.Envs, s.StealEvery = slices.Clone(s.Envs[:6]), 0
	if change != nil {
		change(&s)
	}
	return analyzetest.Run(t, recordtest.Edited{Spec: s, Each: each})
}

// TestDisturbances: what disturbs trials is found in what a run records of
// them, in its environment, and not where it is not.
func TestDisturbances(t *testing.T) {
	of := func(env string, f func(*record.Trial)) func(*record.Trial) {
		return func(t *record.Trial) {
			if t.Env == env {
				f(t)
			}
		}
	}
	set := func(metric string, v float64) func(*record.Trial) {
		return func(t *record.Trial) { t.Values = map[string]float64{metric: v} }
	}
	quiet := disturbed(t, nil, nil)
	for _, c := range []struct {
		code, env string
		change    func(*recordtest.Spec)
		each      func(*record.Trial)
	}{
		{"steal", "", nil, of("runc", func(t *record.Trial) { t.Host = &record.Disturbance{StealNS: 10e6} })},
		{"throttled", "runc", nil, of("runc", set("payload-throttled", 3e6))},
		{"throttled", "runc", nil, of("runc", func(t *record.Trial) { t.Host = &record.Disturbance{ThrottledNS: new(int64(1))} })},
		{"negative", "runc", nil, of("runc", func(t *record.Trial) { t.Events[record.Removed] = t.Events[record.Exit] - 5 })},
		{"trial", "runc", nil, of("runc", func(t *record.Trial) { t.Remarks = []string{"the log was torn"} })},
		{"skewed", "runc", func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 20, 1 },
			of("runc", func(t *record.Trial) {
				if t.Block == 4 {
					for e, v := range t.Events {
						t.Events[e] = t.Events[record.Request] + 40*(v-t.Events[record.Request])
					}
				}
			})},
		{"baseline-unstable", "native", func(s *recordtest.Spec) { s.Envs[1].Sigma = 0.5 }, nil},
	} {
		res := disturbed(t, c.change, c.each)
		if !analyzetest.Has(res, c.code, c.env, "") {
			t.Errorf("%s is not found: %s", c.code, analyzetest.Codes(res))
		}
		if c.env != "" && analyzetest.Has(res, c.code, "crun", "") {
			t.Errorf("%s is found in crun, too: %s", c.code, analyzetest.Codes(res))
		}
		if analyzetest.Has(quiet, c.code, "", "") {
			t.Errorf("%s is found in a quiet run: %s", c.code, analyzetest.Codes(quiet))
		}
	}
	// An order that was not random is said of the whole run.
	r := recordtest.Typical().Open(t)
	r.Run().Protocol.Order = "sequential"
	if res, err := evaluate.Run(r, evaluate.Options{}); err != nil || !analyzetest.Has(res, "order", "", "") {
		t.Errorf("%v: a sequential order is not said", err)
	}
}

// TestFalseRemarks counts the remarks on the start-up of quiet runs, in which
// there is nothing to remark. Rates are of tables for drift, which is
// corrected over a table's cells, and of cells for all others.
func TestFalseRemarks(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates for seconds: left out with -short")
	}
	const runs, envs = 100, 6
	found := map[string]int{}
	for i := range uint64(runs) {
		res := disturbed(t, func(s *recordtest.Spec) { s.Seed, s.Blocks = 100+i, 20 }, nil)
		drift := false
		for _, m := range res.Remarks {
			switch {
			case m.Metric != "" && m.Metric != "startup":
			case m.Code == "drift":
				drift = true
			default:
				found[m.Code]++
			}
		}
		if drift {
			found["drift"]++
		}
	}
	t.Logf("in %d quiet runs of %d environments: %v", runs, envs, found)
	bound := map[string]float64{
		"drift": 0.05 * runs, "humps": 0.01 * runs * envs,
		"first-slow": 0.01 * runs * envs, "outliers": 0.01 * runs * envs, "quantised": 0, "skewed": 0, "baseline-unstable": 0,
	}
	for code, n := range found {
		most, known := bound[code]
		if !known || float64(n) > most {
			t.Errorf("%s: %d false remarks, at most %.0f are wanted", code, n, most)
		}
	}
}
