package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// TInterval is the mean of d and Student's interval for it. The last result
// is false for fewer than 2 values.
func TInterval(d []float64, level float64) (mean float64, i Interval, ok bool) {
	if len(d) == 0 {
		return math.NaN(), Interval{}, false
	}
	n := float64(len(d))
	mean, sd := stat.MeanStdDev(d, nil)
	if n < 2 {
		return mean, Interval{}, false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Quantile(1 - (1-level)/2)
	h := t * sd / math.Sqrt(n)
	return mean, Interval{Lo: mean - h, Hi: mean + h}, true
}

// TTest is the two-sided p of Student's test that d has mean 0. It is NaN for
// fewer than 2 values.
func TTest(d []float64) float64 { return StudentP(TMoments(d)) }

// TMoments are the mean of d, its standard error and the degrees of freedom.
func TMoments(d []float64) (mean, se, nu float64) {
	if len(d) < 2 {
		return math.NaN(), math.NaN(), 0
	}
	n := float64(len(d))
	mean, sd := stat.MeanStdDev(d, nil)
	return mean, sd / math.Sqrt(n), n - 1
}

// StudentP is the two-sided p of an estimate of 0 that has this standard error
// with nu degrees of freedom. It is NaN where there are none.
func StudentP(estimate, se, nu float64) float64 {
	switch {
	case !(nu > 0) && se != 0:
		return math.NaN()
	case se > 0:
		return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: nu}.Survival(math.Abs(estimate)/se)
	case estimate == 0:
		return 1
	}
	return 0
}
