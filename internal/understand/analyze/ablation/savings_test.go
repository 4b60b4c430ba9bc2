package ablation

import (
	"testing"

	"plimsoll/internal/understand/analyze/sample"
)

// What may be nothing is not named as what an engine is made of, however large the middle
// of its interval is. With too few blocks for an interval a start's numbers stand alone.
func TestLargest(t *testing.T) {
	step := func(name string, v, lo, hi float64) Step {
		return Step{Kind: Mechanism, Of: "top", Mechanism: name, Share: v / 100, Chain: &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}}
	}
	w := &Waterfall{Engine: "top", Metric: startup, Base: Level{Median: &sample.Estimate{Value: 100}}, Steps: []Step{
		step("sure", 20, 10, 30), step("may be nothing", 40, -5, 80), step("less than nothing", -20, -30, -10),
	}}
	if l := w.Largest(); len(l) != 1 || l[0].Mechanism != "sure" {
		t.Errorf("%+v", l)
	}
	w.Steps = append(w.Steps, Step{Kind: Mechanism, Of: "top", Mechanism: "without an interval", Share: 0.5, Chain: &sample.Estimate{Value: 50}})
	if l := w.Largest(); len(l) != 2 || l[0].Mechanism != "without an interval" {
		t.Errorf("%+v", l)
	}
}
