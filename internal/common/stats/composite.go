package stats

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// A Sum is a weighted sum of means with its interval.
type Sum struct {
	Value float64
	// Interval is Student's; it is empty where OK is false.
	Interval Interval
	OK       bool
	// P is the two-sided p of Value being 0; NaN where OK is false.
	P float64
	// N is the least number of values behind any of the means.
	N int
}

// Known are the values that there are: those that are not NaN.
func Known(x []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(x), math.IsNaN)
}

// WeightedMeans estimates Σ w[c]·mean(x[c]) over columns that share blocks:
// x[c][b] is the value of column c in block b, NaN where it has none. Blocks
// are independent of each other; within one the columns may depend on each
// other in any way. Each block enters the variance by the weighted sum of its
// deviations, so that with all values there it is that of the blocks' weighted
// sums. The degrees of freedom are those of Satterthwaite 1946 (Biometrics
// Bulletin 2, 110–114), at most the longest column's: more would lean on the
// columns' being independent. Columns of weight 0 play no part. There is no
// interval where a column has fewer than least values.
func WeightedMeans(x [][]float64, w []float64, level float64, least int) Sum {
	out := Sum{P: math.NaN()}
	var byBlock []float64
	sum, squares, most := 0.0, 0.0, 0
	first := true
	for c, column := range x {
		if w[c] == 0 {
			continue
		}
		values := Known(column)
		n := len(values)
		if first || n < out.N {
			out.N, first = n, false
		}
		most = max(most, n)
		mean, variance := stat.MeanVariance(values, nil)
		out.Value += w[c] * mean
		if n < 2 {
			continue
		}
		for len(byBlock) < len(column) {
			byBlock = append(byBlock, 0)
		}
		k := w[c] / math.Sqrt(float64(n)*float64(n-1))
		for b, v := range column {
			if !math.IsNaN(v) {
				byBlock[b] += k * (v - mean)
			}
		}
		own := w[c] * w[c] * variance / float64(n)
		sum += own
		squares += own * own / float64(n-1)
	}
	if out.N < max(2, least) {
		return out
	}
	variance := dot(byBlock, byBlock)
	df := float64(most - 1)
	if squares > 0 {
		df = min(df, sum*sum/squares)
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}
	half := t.Quantile(1-(1-level)/2) * math.Sqrt(variance)
	out.Interval, out.OK = Interval{Lo: out.Value - half, Hi: out.Value + half}, true
	switch {
	case variance > 0:
		out.P = 2 * t.Survival(math.Abs(out.Value)/math.Sqrt(variance))
	case out.Value == 0:
		out.P = 1
	default:
		out.P = 0
	}
	return out
}
