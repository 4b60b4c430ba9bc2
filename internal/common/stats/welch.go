package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// WelchInterval is the difference of the means of x and y, independent of each
// other and of any variance, and its interval (Welch 1947). The last result is
// false for fewer than 2 values of either.
func WelchInterval(x, y []float64, level float64) (difference float64, i Interval, ok bool) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), Interval{}, false
	}
	d, se, nu := WelchMoments(x, y)
	if len(x) < 2 || len(y) < 2 {
		return d, Interval{}, false
	}
	h := 0.0
	if se > 0 {
		h = se * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Quantile(1-(1-level)/2)
	}
	return d, Interval{Lo: d - h, Hi: d + h}, true
}

// WelchMoments are the difference of the means, its standard error and the
// degrees of freedom after Satterthwaite.
func WelchMoments(x, y []float64) (d, se, nu float64) {
	mx, vx := stat.MeanVariance(x, nil)
	my, vy := stat.MeanVariance(y, nil)
	m, n := float64(len(x)), float64(len(y))
	a, b := vx/m, vy/n
	return mx - my, math.Sqrt(a + b), (a + b) * (a + b) / (a*a/(m-1) + b*b/(n-1))
}
