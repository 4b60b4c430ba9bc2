package papers_test

import (
	"math"
	"testing"

	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
)

// A ratio stands beside the same two environments' here; a star is the same on
// both sides.
func TestRatios(t *testing.T) {
	s := recordtest.Paper()
	s.Parts, s.Tables[0].Images = nil, nil // every environment has hello, and those without an image stand for these
	s.Tables[0].Ratios = []record.PaperPair{{Of: "docker", To: "podman"}, {Of: "docker", To: "balena"}}
	res := analyzetest.Run(t, s)
	var both, without int
	for _, r := range res.Papers[0].Ratios {
		if r.To == "balena" || r.Here == nil {
			if without++; r.Here != nil || r.Missing == "" || r.Way != "" {
				t.Errorf("%+v", r)
			}
			continue
		}
		both++
		a, b := paperCell(t, res, "Table 3", r.Row, r.Of, r.Image), paperCell(t, res, "Table 3", r.Row, r.To, r.Image)
		if want := a.Published / b.Published; math.Abs(r.Theirs.Value-want) > 1e-12 || r.Theirs.Lo != nil {
			t.Errorf("theirs is %+v, want %g, without an interval: there are no raw values", r.Theirs, want)
		}
		if quotient := a.Here.Value / b.Here.Value; math.Abs(r.Here.Value/quotient-1) > 0.1 || r.Here.Lo == nil || r.Blocks != 10 || r.Way != analyze.OpenWay {
			t.Errorf("ours is %+v in %d blocks, %s; the medians' quotient is %g", r.Here, r.Blocks, r.Way, quotient)
		}
	}
	if both == 0 || without == 0 {
		t.Errorf("%d with one of ours, %d without", both, without)
	}
}

// From raw values theirs has an interval: crun starts in half of runc's time.
func TestTheirRatios(t *testing.T) {
	s := recordtest.Paper()
	table := published.EverartsTable("Hello World")
	s.Tables = []record.PaperTable{{Source: "everarts2020", Table: table,
		Engines: []record.PaperColumn{{Published: "docker/crun/overlay", Levels: map[string][]string{"engine": {"docker"}}}, {Published: "docker/runc/overlay", Levels: map[string][]string{"engine": {"balena"}}}},
		Rows:    []record.PaperRow{{Published: "hello-world/start", Workload: "hello", Metric: "startup"}},
		Ratios:  []record.PaperPair{{Of: "docker/crun/*", To: "docker/runc/*"}}}}
	res := analyzetest.Run(t, s)
	found := false
	for _, r := range res.Papers[0].Ratios {
		if r.Of[len("docker/crun"):] != r.To[len("docker/runc"):] {
			t.Errorf("%s over %s: the star is not the same", r.Of, r.To)
		}
		if r.Of != "docker/crun/overlay" || r.Row != "hello-world/start" || r.Image != "alpine" {
			continue
		}
		found = true
		if e := r.Theirs; e.Lo == nil || e.Hi == nil || *e.Lo < 0.5 || *e.Hi > 0.6 || e.Value < *e.Lo || e.Value > *e.Hi {
			t.Errorf("%+v, want between 0.5 and 0.6: the medians are 307 and 569 ms", e)
		}
	}
	if !found {
		t.Error("no ratio of crun to runc with Docker and overlay")
	}
}
