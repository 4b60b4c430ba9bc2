package stats

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// The estimators of this file are those of published studies. They stand beside
// a published number, and nothing is judged by them.

// ZMean is the mean of x, its standard deviation and the half-width of a normal
// interval of 95 %, 1.96 standard errors. Without two values the last two are
// NaN.
func ZMean(x []float64) (mean, sd, half float64) {
	if len(x) == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	mean, sd = stat.MeanStdDev(x, nil)
	if len(x) == 1 {
		return mean, math.NaN(), math.NaN()
	}
	return mean, sd, 1.959963984540054 * sd / math.Sqrt(float64(len(x)))
}

// GeometricMean is that of positive values, NaN where one is not.
func GeometricMean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		if v <= 0 {
			return math.NaN()
		}
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(x)))
}

// MeanWithoutLargest is the mean of what is left after the largest quarter of
// the values, rounded down: of twenty the five largest. Dropped is how many.
func MeanWithoutLargest(x []float64) (mean float64, dropped int) {
	if len(x) == 0 {
		return math.NaN(), 0
	}
	dropped = len(x) / 4
	return stat.Mean(Sorted(x)[:len(x)-dropped], nil), dropped
}

// Box is a box plot after Tukey: quartiles, and whiskers to the furthest values
// within one and a half times their distance.
type Box struct {
	Low, Q1, Median, Q3, High float64
	// Out are the values beyond the whiskers, ascending.
	Out []float64
}

// LeastBox is the fewest values that a box is drawn of: of fewer its five
// numbers would say more than the values themselves.
const LeastBox = 5

// BoxOf is the box of values that are at least LeastBox.
func BoxOf(x []float64) (b Box, ok bool) {
	if len(x) < LeastBox {
		return Box{}, false
	}
	s := Sorted(x)
	b = Box{Q1: Quantile(s, 0.25), Median: Median(s), Q3: Quantile(s, 0.75), Low: math.Inf(1), High: math.Inf(-1)}
	reach := 1.5 * (b.Q3 - b.Q1)
	for _, v := range s {
		if v < b.Q1-reach || v > b.Q3+reach {
			b.Out = append(b.Out, v)
			continue
		}
		b.Low, b.High = min(b.Low, v), max(b.High, v)
	}
	return b, true
}
