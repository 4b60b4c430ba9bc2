package papers_test

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// Beside a published share of failures stands the run's own, of the environment
// that is named for it, or why there is none.
func TestFailures(t *testing.T) {
	s := recordtest.Paper()
	s.Tables = []record.PaperTable{{Source: "gerdes2024", Table: "Results",
		Engines: []record.PaperColumn{
			{Published: "containerd/runc", Levels: map[string][]string{"engine": {"docker"}, "image": {"debian"}}},
			{Published: "containerd/crun", Levels: map[string][]string{"engine": {"nonesuch"}}},
		},
		Rows:    []record.PaperRow{{Published: "run/errors", Workload: "hello", Metric: record.Failures.ID}},
		Without: map[string]string{"containerd/youki": "It is not measured."},
	}}
	for i := range s.Envs {
		if s.Envs[i].ID == "docker/debian" {
			s.Envs[i].FailEvery, s.Envs[i].Class = 4, record.EngineError
		}
	}
	res := analyzetest.Run(t, s)
	c := paperCell(t, res, "Results", "run/errors", "containerd/runc", "busybox")
	if c.Here == nil || c.Here.Value != 25 || c.Here.Lo == nil || *c.Here.Lo <= 0 || *c.Here.Hi >= 60 || c.Env != "docker/debian" || c.Unit != "%" || c.Published != 0.1 || c.N != 20 {
		t.Errorf("%+v of %+v", c.Here, c)
	}
	if c := paperCell(t, res, "Results", "run/errors", "containerd/crun", "busybox"); c.Here != nil || c.Missing == "" {
		t.Errorf("%+v", c)
	}
	if c := paperCell(t, res, "Results", "run/errors", "containerd/youki", "busybox"); c.Missing != "It is not measured." {
		t.Errorf("%+v", c)
	}
}
