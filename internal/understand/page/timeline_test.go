package page

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// TestTimeline: beside what was found by taking away stands what traced starts say, in a
// line for each mechanism, also for one that was not followed.
func TestTimeline(t *testing.T) {
	around := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	startup, _ := record.MetricByID("startup")
	w := &ablation.Waterfall{Engine: "docker", Workload: "hello", Metric: startup, Blocks: 20,
		Base: ablation.Level{Env: "docker", Median: around(1e8, 1e6)}, Floor: ablation.Level{Env: "floor", Median: around(1e6, 1e5)}, Whole: around(99e6, 1e6),
		Steps: []ablation.Step{
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "network", Alone: around(6e7, 5e6)},
			{Kind: ablation.Mechanism, Of: "docker", Mechanism: "keyring", Alone: around(1e6, 4e6)},
		}}
	d := made()
	d.Ablations = []*ablation.Waterfall{w}
	list := func() *html.Node {
		all := elements(t, written(t, d, nil), "details")
		if i := slices.IndexFunc(all, func(n *html.Node) bool { return attr(n, "id") == "static-timeline-0" }); i >= 0 {
			return all[i]
		}
		return nil
	}
	if list() != nil {
		t.Error("there is a table of a timeline that was not asked")
	}
	w.Observe(&record.Timeline{Engine: "docker", Workload: "hello", Metric: startup.ID, Starts: 10, Mechanisms: []record.Observed{
		{Mechanism: "network", With: 1e8, Without: 4e7, Gone: 58e6, Else: 2e6, Steps: []record.ObservedStep{{Name: "dockerd: iptables", With: 5e7}}}}})
	n := list()
	if n == nil {
		t.Fatal("there is no table of what the timeline says")
	}
	if !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "open" }) {
		t.Error("what the engine is made of is folded away, where it is the answer")
	}
	for _, want := range []string{"What the timeline says of docker's mechanisms (2)", "dockerd: iptables: 50.0 → gone", "yes", "58.0", "not followed: no cost is certain: the interval holds 0"} {
		if !strings.Contains(text(n), want) {
			t.Errorf("%q is not in %q", want, text(n))
		}
	}
}
