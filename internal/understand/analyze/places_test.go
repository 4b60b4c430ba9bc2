package analyze

import (
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// A place is behind all that are known to be better and before all that are known to
// be worse, among those that are no baselines.
func TestPlaces(t *testing.T) {
	envs := []record.Environment{{ID: "native", Baseline: "native"}, {ID: "a"}, {ID: "b"}, {ID: "c"}, {ID: "none"}}
	table := func(better record.Direction) *Table {
		tab := &Table{Metric: record.Metric{Better: better}, Ranking: []string{"native", "a", "b", "c"}}
		for _, e := range envs {
			c := Cell{Env: e.ID}
			if e.ID != "none" {
				c.Median = &sample.Estimate{Value: 1}
			}
			tab.Cells = append(tab.Cells, c)
		}
		pair := func(a, b string, ratio, holm float64) {
			if better == record.HigherIsBetter {
				ratio = 1 / ratio
			}
			tab.Pairs = append(tab.Pairs, Pair{A: a, B: b, Holm: &holm, Comparison: Comparison{Estimate: sample.Estimate{Value: ratio}}})
		}
		for _, e := range []string{"a", "b", "c"} {
			pair("native", e, 0.1, 0.001)
		}
		pair("a", "b", 0.9, 0.2)
		pair("a", "c", 0.5, 0.01)
		pair("b", "c", 0.6, 0.06)
		return tab
	}
	for _, better := range []record.Direction{record.LowerIsBetter, record.HigherIsBetter} {
		tab := table(better)
		tab.place(envs)
		want := map[string]*Places{"native": nil, "a": {1, 2}, "b": {1, 3}, "c": {2, 3}, "none": nil}
		for _, c := range tab.Cells {
			if w := want[c.Env]; (w == nil) != (c.Places == nil) || w != nil && *w != *c.Places {
				t.Errorf("%s, %s: %v, want %v", better, c.Env, c.Places, w)
			}
		}
	}
}
