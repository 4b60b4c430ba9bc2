// Package stats holds the estimators and tests that a result is made of.
//
// It is opinionated about four things. The unit is the block: what is compared
// are pairs from the same block, on the logarithm. Intervals come from ranks
// and their exact distributions, never from resampling a handful of block
// medians, which covers too little (shares of variance are the one exception:
// there such intervals are widened, and simulated). An interval that the number of values
// cannot carry is refused, not invented. Nothing is ever removed from the data.
//
// Distributions come from gonum; what is not there is small and written here,
// each tested against values computed with SciPy (testdata).
//
// Why it is so: docs/decisions/statistics.md.
package stats

// Level is the confidence level of every interval, unless said otherwise.
const Level = 0.95

// Interval is a confidence interval.
type Interval struct {
	Lo, Hi float64
}

// Width is the interval's length.
func (i Interval) Width() float64 { return i.Hi - i.Lo }
