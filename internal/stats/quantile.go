package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// Sorted gives a sorted copy of x.
func Sorted(x []float64) []float64 {
	s := slices.Clone(x)
	slices.Sort(s)
	return s
}

// Quantile is the q-quantile of sorted values, interpolated linearly between
// order statistics (type 7 of Hyndman & Fan 1996, as NumPy and R do). It is
// NaN for no values.
func Quantile(sorted []float64, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := q * float64(n-1)
	i := int(h)
	if i >= n-1 {
		return sorted[n-1]
	}
	return sorted[i] + (h-float64(i))*(sorted[i+1]-sorted[i])
}

// Median of sorted values.
func Median(sorted []float64) float64 { return Quantile(sorted, 0.5) }

// MedianInterval is the interval for the median by order statistics,
// interpolated between two depths after Hettmansperger & Sheather 1986
// (Statistics & Probability Letters 4, 75–79). The last result is false where
// the values cannot carry it: at 95 % fewer than 6.
func MedianInterval(sorted []float64, level float64) (Interval, bool) {
	n := len(sorted)
	if n == 0 {
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
	lo, hi := 1, n/2+1
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if cover(mid) >= level {
			lo = mid
		} else {
			hi = mid
		}
	}
	d := lo
	outer, inner := cover(d), cover(d+1)
	i := (outer - level) / (outer - inner)
	l := float64(n-d) * i / (float64(d) + float64(n-2*d)*i)
	upper := sorted[n-d]
	deeper := upper
	if n-d-1 >= 0 {
		deeper = sorted[n-d-1]
	}
	return Interval{
		Lo: (1-l)*sorted[d-1] + l*sorted[d],
		Hi: (1-l)*upper + l*deeper,
	}, true
}

// QuantileInterval is the two-sided interval for the q-quantile by order
// statistics, with at most (1−level)/2 on either side (exact binomial; David
// & Nagaraja, Order Statistics, 7.1). The last result is false where the
// values cannot carry it: at 95 %, fewer than 72 for p95 and 368 for p99.
func QuantileInterval(sorted []float64, q, level float64) (Interval, bool) {
	l, u, ok := quantileRanks(len(sorted), q, level)
	if !ok {
		return Interval{}, false
	}
	return Interval{Lo: sorted[l-1], Hi: sorted[u-1]}, true
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

// IQR is the distance between the quartiles of sorted values.
func IQR(sorted []float64) float64 {
	return Quantile(sorted, 0.75) - Quantile(sorted, 0.25)
}

// MAD is the median absolute deviation from the median of sorted values. It
// is not scaled: for normal values σ is 1.4826 times it.
func MAD(sorted []float64) float64 {
	m := Median(sorted)
	d := make([]float64, len(sorted))
	for i, v := range sorted {
		d[i] = math.Abs(v - m)
	}
	slices.Sort(d)
	return Median(d)
}

// FarOut counts the sorted values beyond Tukey's far fences: more than three
// times the IQR outside the quartiles (Exploratory Data Analysis, 1977).
func FarOut(sorted []float64) int {
	q1, q3 := Quantile(sorted, 0.25), Quantile(sorted, 0.75)
	fence := 3 * (q3 - q1)
	n := 0
	for _, v := range sorted {
		if v < q1-fence || v > q3+fence {
			n++
		}
	}
	return n
}

// Distinct is the number of different values among sorted ones.
func Distinct(sorted []float64) int {
	n := 0
	for i, v := range sorted {
		if i == 0 || v != sorted[i-1] {
			n++
		}
	}
	return n
}
