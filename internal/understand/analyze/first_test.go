package analyze_test

import (
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
)

// What stands for a workload, by what the study shows and sorts by and by who
// has a value: native and most engines are never created.
func TestFirst(t *testing.T) {
	own := []record.Metric{{ID: "writes", Unit: "ops/s", Better: record.HigherIsBetter}, {ID: "reads", Unit: "ops/s", Better: record.HigherIsBetter}}
	all := recordtest.Typical().Envs
	broken := func(envs []recordtest.Env) []recordtest.Env {
		for i := range envs {
			envs[i].StartUp, envs[i].Class = 0, record.EngineError
		}
		return envs
	}
	everyone := map[string]float64{"writes": 10, "reads": 20}
	for name, c := range map[string]struct {
		metrics        []string // of the study
		sort           string
		own            []record.Metric
		values, native map[string]float64
		envs           []recordtest.Env
		want, against  string
	}{
		"in the study's order":      {metrics: []string{"create", "execution", "bootstrap"}, want: "create", against: "execution"},
		"what the study sorts by":   {metrics: []string{"create", "execution", "bootstrap"}, sort: "bootstrap", want: "bootstrap", against: "bootstrap"},
		"sorted by what some lack":  {metrics: []string{"bootstrap", "create"}, sort: "create", want: "create", against: "bootstrap"},
		"not to be shown":           {metrics: []string{"whole"}, sort: "bootstrap", want: "whole", against: "whole"},
		"nothing is asked for":      {sort: "startup", want: "startup", against: "startup"},
		"a benchmark's own":         {sort: "startup", own: own, values: everyone, native: everyone, want: "writes", against: "writes"},
		"a benchmark's own, sorted": {sort: "reads", own: own, values: everyone, native: everyone, want: "reads", against: "reads"},
		"native lacks the first":    {own: own, values: everyone, native: map[string]float64{"reads": 20}, want: "writes", against: "reads"},
		"only native has it":        {metrics: []string{"writes", "whole"}, own: own, native: everyone, want: "whole", against: "whole"},
		"only baselines ran":        {metrics: []string{"create", "whole"}, envs: all[:3], want: "whole", against: "whole"},
		"nobody has anything":       {metrics: []string{"create", "whole"}, envs: broken(recordtest.Typical().Envs[:3]), want: "create", against: "create"},
	} {
		s := recordtest.Typical()
		s.Blocks, s.PerBlock = 4, 1
		if c.envs != nil {
			s.Envs = c.envs
		}
		s.Workloads[0].Metrics = c.own
		for i := range s.Envs {
			if s.Envs[i].Values = c.values; s.Envs[i].Baseline != "" {
				s.Envs[i].Values = c.native
			}
		}
		r := s.Open(t)
		r.Run().Study.Metrics, r.Run().Study.Sort = c.metrics, c.sort
		res, err := evaluate.Run(r, evaluate.Options{})
		require.NoError(t, err)
		w := &res.Workloads[0]
		if got := w.First("").Metric.ID; got != c.want {
			t.Errorf("%s: %s, not %s, of %v", name, got, c.want, w.Show)
		}
		row := res.OverheadOf("native", "").Rows[0]
		if row.Metric.ID != c.against {
			t.Errorf("%s: the heat map is by %s, not %s", name, row.Metric.ID, c.against)
		}
	}
	if (&analyze.Workload{}).First("native") != nil {
		t.Error("a workload without a table has a first one")
	}
}
