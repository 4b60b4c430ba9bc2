package selftest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// level is that of every interval.
const level = 0.95

// series holds a run's life-cycle metrics, in ns, by environment, metric and
// block (one trial of each environment in a block).
type series struct {
	values map[string]map[string]map[int]float64
	failed []string
}

func readSeries(dir string) (*series, error) {
	r, err := record.Open(dir)
	if err != nil {
		return nil, err
	}
	warmup := r.Run().Protocol.Warmup // these blocks come first in the count
	s := &series{values: map[string]map[string]map[int]float64{}}
	for t, err := range r.Trials() {
		if err != nil {
			return nil, err
		}
		if !t.OK() {
			s.failed = append(s.failed, fmt.Sprintf("%s, trial %d: %s: %s", t.Env, t.Seq, t.Failure.Class, t.Failure.Text))
			continue
		}
		if t.Warmup {
			continue
		}
		for _, m := range record.LifeCycle {
			if v, ok := m.Derive(t); ok {
				s.put(t.Env, m.ID, t.Block-warmup, float64(v))
			}
		}
	}
	return s, nil
}

func (s *series) put(env, metric string, block int, v float64) {
	if s.values[env] == nil {
		s.values[env] = map[string]map[int]float64{}
	}
	if s.values[env][metric] == nil {
		s.values[env][metric] = map[int]float64{}
	}
	s.values[env][metric][block] = v
}

// all gives every value of one environment, in no order.
func (s *series) all(env, metric string) []float64 {
	return slices.Collect(maps.Values(s.values[env][metric]))
}

// has says whether an environment has a metric at all.
func (s *series) has(env, metric string) bool { return len(s.values[env][metric]) > 0 }

// pairs gives f(b, a) for the blocks from..to-1 that have both.
func (s *series) pairs(a, b, metric string, from, to int, f func(b, a float64) float64) []float64 {
	var out []float64
	for block := from; block < to; block++ {
		x, ok := s.values[a][metric][block]
		y, ok2 := s.values[b][metric][block]
		if ok && ok2 {
			out = append(out, f(y, x))
		}
	}
	return out
}

// shift is by how much b is above a, in ns: the Hodges–Lehmann estimate of the
// differences within blocks, with its interval.
func (s *series) shift(a, b, metric string, blocks int) (float64, stats.Interval, bool) {
	d := s.pairs(a, b, metric, 0, blocks, func(y, x float64) float64 { return y - x })
	return stats.PseudoMedian(d, level)
}

// logRatio is the same for the ratio b/a, on logarithms.
func (s *series) logRatio(a, b, metric string, from, to int) (float64, stats.Interval, bool) {
	d := s.pairs(a, b, metric, from, to, func(y, x float64) float64 { return math.Log(y / x) })
	return stats.PseudoMedian(d, level)
}

// toldApart is the product's own verdict "differs": the interval of the ratio
// lies outside 1 ± delta.
func toldApart(i stats.Interval) bool {
	const delta = 0.01
	return i.Lo > math.Log1p(delta) || i.Hi < math.Log1p(-delta)
}
