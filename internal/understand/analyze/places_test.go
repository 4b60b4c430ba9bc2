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

// On the way down a ranking no range steps back, and none becomes narrower.
func TestPlacesFollowTheRanking(t *testing.T) {
	tab := &Table{Ranking: []string{"native", "a", "b", "c", "d"}, Cells: []Cell{
		{Env: "d", Places: &Places{2, 4}}, {Env: "a", Places: &Places{1, 2}}, {Env: "b", Places: &Places{3, 4}}, {Env: "c", Places: &Places{2, 3}}, {Env: "native"},
	}}
	tab.widen()
	for env, want := range map[string]Places{"a": {1, 2}, "b": {2, 4}, "c": {2, 4}, "d": {2, 4}} {
		if got := tab.Cell(env).Places; *got != want {
			t.Errorf("%s: %v, want %v", env, got, &want)
		}
	}
}

// A name with ellipses is the one that it is short for; of several it is none.
func TestWhole(t *testing.T) {
	r := &Result{Environments: []record.Environment{{ID: "apptainer/sandbox/network-host/rootless"}, {ID: "apptainer/sandbox/rootful"}, {ID: "apptainer/sif/rootless"}, {ID: "docker/cpu-limit-0.5"}, {ID: "docker/cpu-limit-1"}}}
	for name, want := range map[string]string{
		"apptainer/sa…/ne…host/rootless": "apptainer/sandbox/network-host/rootless",
		"apptainer/sandbox/netw…":        "apptainer/sandbox/network-host/rootless",
		"apptainer/sa…/rootful":          "apptainer/sandbox/rootful",
		"docker/cpu…0.5":                 "docker/cpu-limit-0.5",
		"docker/cpu…1":                   "docker/cpu-limit-1",
		"apptainer/…/rootless":           "apptainer/…/rootless", // two
		"podman/sa…":                     "podman/sa…",
		"docker":                         "docker",
		"docker/cpu-limit-0.5…0.5":       "docker/cpu-limit-0.5…0.5", // nothing is left for its end
	} {
		if got := r.Whole([]string{name})[0]; got != want {
			t.Errorf("%s is %s, not %s", name, got, want)
		}
	}
}
