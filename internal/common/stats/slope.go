package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"
)

// maxSlopes bounds the pairs that TheilSen looks at.
const maxSlopes = 4 << 20

// TheilSen is the median of the slopes of all pairs of points, and Sen's
// interval for it from the distribution of Kendall's S with its correction for
// tied x (Sen 1968, Journal of the American Statistical Association 63,
// 1379–1389). A few points far off move neither. The slope is NaN where no two
// x differ; the last result is false where the points cannot carry the
// interval. Of more than about 2900 points, evenly spaced ones are taken.
//
// The interval takes the points' errors for independent. Those of a series in
// time seldom are, so of several series the slopes themselves say more.
func TheilSen(x, y []float64, level float64) (slope float64, i Interval, ok bool) {
	x, y = thinned(x, y)
	n := len(x)
	slopes := make([]float64, 0, n*(n-1)/2)
	for a := range x {
		for b := a + 1; b < n; b++ {
			if dx := x[b] - x[a]; dx != 0 {
				slopes = append(slopes, (y[b]-y[a])/dx)
			}
		}
	}
	if len(slopes) == 0 {
		return math.NaN(), Interval{}, false
	}
	slices.Sort(slopes)
	slope = Median(slopes)

	f := float64(n)
	v := f * (f - 1) * (2*f + 5)
	for _, t := range ties(x) {
		v -= t * (t - 1) * (2*t + 5)
	}
	for _, t := range ties(y) {
		v -= t * (t - 1) * (2*t + 5)
	}
	if v <= 0 {
		return slope, Interval{}, false
	}
	c := distuv.UnitNormal.Quantile(1-(1-level)/2) * math.Sqrt(v/18)
	m := float64(len(slopes))
	lo, hi := int(math.RoundToEven((m-c)/2))-1, int(math.RoundToEven((m+c)/2))
	if lo < 0 || hi >= len(slopes) {
		return slope, Interval{}, false
	}
	return slope, Interval{Lo: slopes[lo], Hi: slopes[hi]}, true
}

// ties gives the size of each group of equal values.
func ties(x []float64) []float64 {
	var out []float64
	s := Sorted(x)
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && s[j] == s[i] {
			j++
		}
		if j-i > 1 {
			out = append(out, float64(j-i))
		}
		i = j
	}
	return out
}

// thinned takes evenly spaced points where there are too many.
func thinned(x, y []float64) (xs, ys []float64) {
	step := 1
	for n := len(x); n*(n-1)/2 > maxSlopes; n = (len(x) + step - 1) / step {
		step++
	}
	if step == 1 {
		return x, y
	}
	for i := 0; i < len(x); i += step {
		xs, ys = append(xs, x[i]), append(ys, y[i])
	}
	return xs, ys
}
