package stats

import (
	"math"
	"slices"

	"plimsoll/internal/common/lists"
)

// BlockQuantile is the q-quantile of values that were taken in blocks, with its
// interval by order statistics. Values of one block may move together, so that
// n of them say as much as fewer: how much fewer is the design effect of the
// share below the quantile, from its scatter over the blocks (Woodruff 1952,
// JASA 47, 635–646; Kish, Survey Sampling, 5.4), never below 1. effective is n
// over that. The last result is false where so many cannot carry the interval:
// at 95 %, fewer than 72 for p95 and 368 for p99.
func BlockQuantile(blocks [][]float64, q, level float64) (value float64, i Interval, effective int, ok bool) {
	var x []float64
	for _, b := range blocks {
		x = append(x, b...)
	}
	slices.Sort(x)
	n := len(x)
	value = Quantile(x, q)
	effective = effectiveOf(blocks, value, n)
	lo, hi, ok := quantileRanks(effective, q, level)
	if !ok {
		return value, Interval{}, effective, false
	}
	scale := float64(n) / float64(effective)
	l, u := int(math.Floor(float64(lo)*scale)), int(math.Ceil(float64(hi)*scale))
	return value, Interval{Lo: x[max(l, 1)-1], Hi: x[min(u, n)-1]}, effective, true
}

// effectiveOf is the number of independent values that say as much as those of
// the blocks about the share of values up to at.
func effectiveOf(blocks [][]float64, at float64, n int) int {
	below := 0
	for _, b := range blocks {
		below += upTo(b, at)
	}
	p := float64(below) / float64(n)
	if n == 0 || p == 0 || p == 1 {
		return n
	}
	sum := 0.0
	for _, b := range blocks {
		e := float64(upTo(b, at)) - p*float64(len(b))
		sum += e * e
	}
	effect := max(1, sum/(float64(n)*p*(1-p)))
	return int(float64(n)/effect + 1e-9)
}

func upTo(b []float64, at float64) int {
	return lists.Count(b, func(v float64) bool { return v <= at })
}

// RatioOfQuantiles is the q-quantile of x over that of y, from the logarithms
// of independent values in blocks: x and y hold logarithms, and so does the
// result. The two intervals are combined as Zou & Donner 2008 do (Statistics in
// Medicine 27, 1693–1702), which keeps their asymmetry. few is the smaller of
// the effective numbers of values; the last result is false where it cannot
// carry the interval. Where x and y move together, as in pairs of one block, it
// is wider than it need be.
func RatioOfQuantiles(x, y [][]float64, q, level float64) (ratio float64, i Interval, few int, ok bool) {
	a, p, n, ok1 := BlockQuantile(x, q, level)
	b, r, m, ok2 := BlockQuantile(y, q, level)
	d := a - b
	if !ok1 || !ok2 {
		return d, Interval{}, min(m, n), false
	}
	return d, Interval{Lo: d - math.Hypot(a-p.Lo, r.Hi-b), Hi: d + math.Hypot(p.Hi-a, b-r.Lo)}, min(m, n), true
}

// QuantileNeeds is the number of values from which QuantileInterval gives one.
func QuantileNeeds(q, level float64) int {
	n := 1
	for {
		if _, _, ok := quantileRanks(n, q, level); ok {
			return n
		}
		n++
	}
}
