package stats

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/lists"
)

// minBlocks is the number of blocks from which resampling them gives an
// interval.
const minBlocks = 6

// intervals fills in the intervals of the shares by resampling whole blocks.
// Percentiles of so few blocks cover too little: they are expanded as
// Student's quantile and the divisor n−1 say (Hesterberg 2015, "What Teachers
// Should Know About the Bootstrap", 5.3). And a resample has the noise of the
// cells' means twice, once as the blocks had it and once anew: both are taken
// out of its shares, so that they scatter around ours and not above it.
func (m *model) intervals(d *Decomposition, y [][]float64, boots int, seed uint64) {
	n := len(y)
	f := float64(n)
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	shares := d.shares()
	samples := make([][]float64, len(shares))
	weights := make([]float64, n)
	for range boots {
		clear(weights)
		for range n {
			weights[rng.IntN(n)]++
		}
		r := m.decompose(y, weights, 1+f/(f-1))
		if r.Total <= 0 {
			continue
		}
		for i, s := range r.shares() {
			samples[i] = append(samples[i], s.Value)
		}
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: f - 1}.Quantile((1 + Level) / 2)
	tail := distuv.UnitNormal.CDF(-t * math.Sqrt(f/(f-1)))
	for i, s := range shares {
		slices.Sort(samples[i])
		lo, hi := Quantile(samples[i], tail), Quantile(samples[i], 1-tail)
		if l, ok := logitInterval(s.Value, samples[i], t*math.Sqrt(f/(f-1))); ok {
			lo, hi = min(lo, l.Lo), max(hi, l.Hi)
		}
		s.Interval, s.OK = Interval{Lo: min(lo, s.Value), Hi: max(hi, s.Value)}, len(samples[i]) > 0
	}
}

// logitInterval is Student's on the logit of a share, with the standard error
// from the resamples; there is none where a share of 0 or 1 has no logit. With
// 6 to 10 blocks the percentiles alone hold the truth in 88 to 95 of 100
// cases, and whichever is wider of the two in 93 to 100 (see the test).
func logitInterval(share float64, samples []float64, t float64) (Interval, bool) {
	logit := func(p float64) float64 { return math.Log(p / (1 - p)) }
	if !(share > 0 && share < 1) || len(samples) < 2 || samples[0] <= 0 || samples[len(samples)-1] >= 1 {
		return Interval{}, false
	}
	logits := lists.Map(samples, logit)
	half := t * stat.StdDev(logits, nil)
	back := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	return Interval{Lo: back(logit(share) - half), Hi: back(logit(share) + half)}, true
}

// shares lists all shares of the decomposition.
func (d *Decomposition) shares() []*Share {
	var out []*Share
	for i := range d.Terms {
		out = append(out, &d.Terms[i].Share)
	}
	return append(out, &d.Pairs, &d.Rest, &d.Noise)
}
