package analyze

import (
	"fmt"
	"maps"
	"math"
)

// underNoise refuses thresholds that lie under the noise floor: a gate there
// would fail or pass by chance. The floor is what a self-test found, and what
// a run itself tells by an environment that was entered twice.
func (c *Changes) underNoise(gated []*Change, limits []float64, tested map[string]float64) error {
	twins := [2]map[[2]string]bool{twinsOf(c.base), twinsOf(c.next)}
	for i, ch := range gated {
		floor, from := c.twins(ch, twins)
		for _, env := range []string{ch.Env, ch.NewEnv} {
			v, ok := tested[env]
			if !ok || env == "" {
				v = tested[""]
			}
			if ch.Metric.ID == "startup" && v > floor {
				floor, from = v, "the self-test"
			}
		}
		if floor > limits[i] {
			return &RefusedError{
				fmt.Sprintf("the gate is refused: the threshold of %s for %s of %s in %s lies under the noise floor of %s, which %s tells", percent(limits[i]), ch.Metric.ID, ch.Workload, ch.Name(), percent(floor), from),
				"raise the threshold, run more blocks, or quiet the machine (plimsoll doctor)"}
		}
	}
	return nil
}

// twins is the noise floor of a metric by the environments that one of the
// runs has twice: how far apart the two came out, or the half of the interval
// where that is more.
func (c *Changes) twins(ch *Change, twins [2]map[[2]string]bool) (floor float64, from string) {
	for k, s := range []struct {
		name string
		r    *Result
	}{{"BASE", c.base}, {"NEW", c.next}} {
		w := s.r.Workload(ch.Workload)
		if len(twins[k]) == 0 || w == nil || w.Table(ch.Metric.ID) == nil {
			continue
		}
		for _, p := range w.Table(ch.Metric.ID).Pairs {
			if p.Lo == nil || !twins[k][[2]string{p.A, p.B}] {
				continue
			}
			if v := max(math.Abs(p.Value-1), (*p.Hi-*p.Lo)/2); v > floor {
				floor, from = v, fmt.Sprintf("%s by %s and %s, the same environment twice,", s.name, p.A, p.B)
			}
		}
	}
	return floor, from
}

// twinsOf finds the pairs of environments that are one, entered twice.
func twinsOf(r *Result) map[[2]string]bool {
	out := map[[2]string]bool{}
	for _, a := range r.Environments {
		for _, b := range r.Environments {
			if a.ID != b.ID && a.Engine == b.Engine && a.Baseline == b.Baseline && maps.Equal(a.Levels, b.Levels) {
				out[[2]string{a.ID, b.ID}] = true
			}
		}
	}
	return out
}
