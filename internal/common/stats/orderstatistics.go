package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// MedianInterval is the interval for the median by order statistics,
// interpolated between two depths after Hettmansperger & Sheather 1986
// (Statistics & Probability Letters 4, 75–79). Interpolation supposes that
// values lie evenly between the two. Where they do not (a median between two
// humps, or few values with a long tail) it covers too little, down to 88 % of
// 6 values; so an end is not interpolated over a gap of more than half of the
// interval, and no end where a fifth of the values are ties. The last result is false where the values cannot carry it: at 95 %
// fewer than 6.
func MedianInterval(sorted []float64, level float64) (Interval, bool) {
	return MedianIntervalAs(sorted, len(sorted), level)
}

// MedianIntervalAs is the same for values that say as much as n independent
// ones (see EffectiveSize).
func MedianIntervalAs(sorted []float64, n int, level float64) (Interval, bool) {
	if n == 0 || len(sorted) == 0 {
		return Interval{}, false
	}
	// cover(d) is the exact coverage of [x(d), x(n+1-d)].
	b := distuv.Binomial{N: float64(n), P: 0.5}
	cover := func(d int) float64 {
		if 2*d > n {
			return 0
		}
		return 1 - 2*b.CDF(float64(d-1))
	}
	if cover(1) < level {
		return Interval{}, false
	}
	// Coverage falls with the depth: find the last that still suffices.
	d := firstInt(1, n/2, func(k int) bool { return cover(k+1) < level })
	outer, inner := cover(d), cover(d+1)
	f := (outer - level) / (outer - inner)
	l := float64(n-d) * f / (float64(d) + float64(n-2*d)*f)
	wide := Interval{Lo: depth(sorted, n, float64(d)), Hi: depth(sorted, n, float64(n+1-d))}
	deep := Interval{Lo: depth(sorted, n, float64(d+1)), Hi: depth(sorted, n, float64(n-d))}
	out := wide
	if 5*Distinct(sorted) <= 4*len(sorted) {
		return out, true
	}
	if deep.Lo-wide.Lo <= wide.Width()/2 {
		out.Lo = (1-l)*wide.Lo + l*deep.Lo
	}
	if wide.Hi-deep.Hi <= wide.Width()/2 {
		out.Hi = (1-l)*wide.Hi + l*deep.Hi
	}
	return out, true
}

// QuantileInterval is the two-sided interval for the q-quantile by order
// statistics, with at most (1−level)/2 on either side (exact binomial; David
// & Nagaraja, Order Statistics, 7.1). The last result is false where the
// values cannot carry it: at 95 %, fewer than 72 for p95 and 368 for p99.
func QuantileInterval(sorted []float64, q, level float64) (Interval, bool) {
	return QuantileIntervalAs(sorted, len(sorted), q, level)
}

// QuantileIntervalAs is the same for values that say as much as n independent
// ones.
func QuantileIntervalAs(sorted []float64, n int, q, level float64) (Interval, bool) {
	l, u, ok := quantileRanks(n, q, level)
	if !ok || len(sorted) == 0 {
		return Interval{}, false
	}
	return Interval{Lo: depth(sorted, n, float64(l)), Hi: depth(sorted, n, float64(u))}, true
}

// quantileRanks gives the ranks, from 1, of the ends of QuantileInterval.
func quantileRanks(n int, q, level float64) (l, u int, ok bool) {
	if n == 0 {
		return 0, 0, false
	}
	tail := (1 - level) / 2
	b := distuv.Binomial{N: float64(n), P: q}
	// lower: the largest l with P(B ≤ l−1) ≤ tail.
	// upper: the smallest u with P(B ≤ u−1) ≥ 1−tail.
	l = firstInt(0, n, func(k int) bool { return b.CDF(float64(k)) > tail })
	u = 1 + firstInt(0, n, func(k int) bool { return b.CDF(float64(k)) >= 1-tail })
	return l, u, l >= 1 && u <= n
}

// depth is the d-th smallest of n values (from 1) where there are that many.
// Where there are more it is what stands at the same place among them.
func depth(sorted []float64, n int, d float64) float64 {
	have := float64(len(sorted))
	at := min(max((d-0.5)*have/float64(n)-0.5, 0), have-1)
	i := int(at)
	if f := at - float64(i); f > 0 {
		return sorted[i] + f*(sorted[i+1]-sorted[i])
	}
	return sorted[i]
}

// EffectiveSize is how many independent values say as much about their
// q-quantile x as these do, of which those of one block may be alike: the
// number of values over the design effect, that is the variance of the share
// of values up to x, estimated from the blocks' shares, over what independent
// values would have. As that estimate is itself uncertain, the number is
// lowered by the square of the ratio of Student's quantiles (Woodruff 1952,
// Journal of the American Statistical Association 47, 635–646; Korn & Graubard
// 1998, Survey Methodology 24, 193–201). It is at least the number of blocks,
// which is right where a block's values are all alike, and at most that of
// values, which is right where each block has one.
func EffectiveSize(blocks [][]float64, x, level float64) int {
	n, groups, below := 0, 0, 0
	counts := make([]int, len(blocks))
	for i, b := range blocks {
		for _, v := range b {
			if v <= x {
				counts[i]++
			}
		}
		n += len(b)
		below += counts[i]
		groups += min(len(b), 1)
	}
	if n == groups || groups < 2 || below == 0 || below == n {
		return groups // one value each, or nothing to tell them apart by
	}
	p := float64(below) / float64(n)
	squares := 0.0
	for i, b := range blocks {
		d := float64(counts[i]) - p*float64(len(b))
		squares += d * d
	}
	effect := squares * float64(groups) / float64(groups-1) / (float64(n) * p * (1 - p))
	uncertain := studentQuantile((1+level)/2, groups-1) / studentQuantile((1+level)/2, n-1)
	size := float64(n) / (effect * uncertain * uncertain)
	return int(math.Round(min(max(size, float64(groups)), float64(n))))
}

// firstInt is the first k of lo…hi for which the monotone f holds, else hi+1.
func firstInt(lo, hi int, f func(int) bool) int {
	hi++
	for lo < hi {
		mid := (lo + hi) / 2
		if f(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
