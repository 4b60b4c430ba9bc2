package stats

import (
	"math"
	"sync"

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
	h := studentQuantile(1-(1-level)/2, len(d)-1) * sd / math.Sqrt(n)
	return mean, Interval{Lo: mean - h, Hi: mean + h}, true
}

// studentQuantile is Student's. It is sought by iteration, and most cells of a table have
// the same number of values, so what was found is kept.
func studentQuantile(p float64, nu int) float64 {
	key := [2]float64{p, float64(nu)}
	if q, ok := knownStudentQuantiles.Load(key); ok {
		return q.(float64)
	}
	q := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(nu)}.Quantile(p)
	knownStudentQuantiles.Store(key, q)
	return q
}

var knownStudentQuantiles sync.Map // of as many entries as there are numbers of values

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

// PooledInterval is the difference of the means of x and y, independent of each
// other and of one variance, and Student's interval for it. Where one of them
// has two or three values, Welch's knows next to nothing of its variance and
// spans anything. The last result is false where both together have fewer than
// 4 values, or either has none.
func PooledInterval(x, y []float64, level float64) (difference float64, i Interval, ok bool) {
	if len(x) == 0 || len(y) == 0 {
		return math.NaN(), Interval{}, false
	}
	m, n := float64(len(x)), float64(len(y))
	mx, vx := stat.MeanVariance(x, nil)
	my, vy := stat.MeanVariance(y, nil)
	if m+n < 4 {
		return mx - my, Interval{}, false
	}
	squares := 0.0
	if m > 1 {
		squares += (m - 1) * vx
	}
	if n > 1 {
		squares += (n - 1) * vy
	}
	h := studentQuantile(1-(1-level)/2, len(x)+len(y)-2) * math.Sqrt(squares/(m+n-2)*(1/m+1/n))
	return mx - my, Interval{Lo: mx - my - h, Hi: mx - my + h}, true
}

// PredictionTest is the two-sided p that v is one more value of where x came
// from, by Student's prediction interval. It is NaN for fewer than 2 values.
func PredictionTest(x []float64, v float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	n := float64(len(x))
	mean, sd := stat.MeanStdDev(x, nil)
	if sd == 0 {
		if v == mean {
			return 1
		}
		return 0
	}
	t := math.Abs(v-mean) / (sd * math.Sqrt(1+1/n))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.Survival(t)
}
