package analyze

import (
	"fmt"
	"maps"
	"math"

	"plimsoll/internal/record"
)

// underNoise refuses thresholds that lie under the noise floor: a gate there
// would fail or pass by chance. The floor is what a self-test found, and what
// a run itself tells by an environment that was entered twice.
func (c *Changes) underNoise(gated []*Change, limits []float64, tested map[string]float64) error {
	for i, ch := range gated {
		floor, from := c.twins(ch)
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
func (c *Changes) twins(ch *Change) (floor float64, from string) {
	for _, s := range []struct {
		name string
		r    *Result
	}{{"BASE", c.base}, {"NEW", c.next}} {
		w := s.r.Workload(ch.Workload)
		if w == nil || w.Table(ch.Metric.ID) == nil {
			continue
		}
		for _, p := range w.Table(ch.Metric.ID).Pairs {
			if p.Lo == nil || !twin(s.r.environment(p.A), s.r.environment(p.B)) {
				continue
			}
			if v := max(math.Abs(p.Value-1), (*p.Hi-*p.Lo)/2); v > floor {
				floor, from = v, fmt.Sprintf("%s by %s and %s, the same environment twice,", s.name, p.A, p.B)
			}
		}
	}
	return floor, from
}

func twin(a, b *record.Environment) bool {
	return a != nil && b != nil && a.ID != b.ID && a.Engine == b.Engine && a.Baseline == b.Baseline && maps.Equal(a.Levels, b.Levels)
}
