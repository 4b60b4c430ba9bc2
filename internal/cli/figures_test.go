//go:build linux

package cli

import (
	"slices"
	"testing"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
)

// TestFiguresOfStudies: each figure names a workload that its study has, a metric
// of it, and a parameter that is varied; and each study of a paper has figures.
func TestFiguresOfStudies(t *testing.T) {
	s, err := newSetting(System())
	require.NoError(t, err)
	cat := s.studyCatalogue()
	for _, name := range study.Names() {
		st, err := study.Load(name, cat)
		require.NoError(t, err)
		if len(st.Tables) > 0 && !slices.Contains(figures.Names(), name) {
			t.Errorf("studies/figures/%s.yaml is not there: the study %s has published tables and no figures", name, name)
		}
	}
	for _, name := range figures.Names() {
		st, err := study.Load(name, cat)
		if err != nil {
			t.Errorf("figures of %s: %v", name, err)
			continue
		}
		list, err := figures.Of(name)
		require.NoError(t, err)
		for _, f := range list {
			if f.Workload == "" {
				continue
			}
			work := workloadOf(st, f.Workload)
			if work == nil {
				t.Errorf("%s, figure %s: the study does not run %s", name, f.Name, f.Workload)
				continue
			}
			if f.Over != "" && f.Over != figures.OverData && !slices.ContainsFunc(work.Parameters, func(a study.Axis) bool { return a.Name == f.Over && len(a.Levels) > 1 }) {
				t.Errorf("%s, figure %s: %s has not two levels of %s in the study", name, f.Name, f.Workload, f.Over)
			}
			if f.Metric != "" && f.Kind != figures.Series && !metricOf(cat, f.Workload, f.Metric) {
				t.Errorf("%s, figure %s: %s has no metric %s", name, f.Name, f.Workload, f.Metric)
			}
		}
	}
}

// workloadOf finds a workload of any part, with the most levels that one has.
func workloadOf(st *study.Study, name string) *study.Workload {
	var out *study.Workload
	for i := range st.Parts {
		for k := range st.Parts[i].Workloads {
			w := &st.Parts[i].Workloads[k]
			if w.Name == name && (out == nil || choicesOf(w) > choicesOf(out)) {
				out = w
			}
		}
	}
	return out
}

func choicesOf(w *study.Workload) int {
	n := 1
	for _, a := range w.Parameters {
		n *= max(1, len(a.Levels))
	}
	return n
}

// metricOf says whether a workload has a metric, of its own, of the life cycle or
// sampled.
func metricOf(cat *study.Catalogue, workload, metric string) bool {
	all := slices.Concat(record.LifeCycle, cat.Sampled)
	for _, w := range cat.Workloads {
		if w.Name == workload {
			all = slices.Concat(all, w.Metrics)
		}
	}
	return slices.ContainsFunc(all, func(m record.Metric) bool { return m.ID == metric })
}
