package sample

import (
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
)

// Alpha is the chance of any false alarm in a table's groups.
const Alpha = 1 - stats.Level

// MinRank is the number of blocks from which ranks carry a 95 % interval.
const MinRank = 6

// MinT is the number of blocks from which Student's interval says anything:
// with 2 or 3 its quantile, 12.7 or 4.3, makes it span any ratio.
const MinT = 4

// LogRatios gives the log of a over b for each block that has both, as a
// difference, so that of two rounded values it is the same with either above
// the other, and ranks see the tie. The last result is false where one value is
// not positive, so that it has no log.
func LogRatios(a, b []float64) (d, x, y []float64, ok bool) {
	for i := range min(len(a), len(b)) {
		if math.IsNaN(a[i]) || math.IsNaN(b[i]) {
			continue
		}
		if a[i] <= 0 || b[i] <= 0 {
			return nil, nil, nil, false
		}
		d, x, y = append(d, math.Log(a[i])-math.Log(b[i])), append(x, a[i]), append(y, b[i])
	}
	return d, x, y, true
}

// Pairs is what tests take of the log ratios of one comparison.
type Pairs struct {
	n                     int
	ranks, center, se, nu float64
}

// PairsOf is of log ratios by block, soonest where they are in order.
func PairsOf(d []float64) Pairs {
	center, se, nu := stats.TMoments(d)
	return Pairs{len(d), stats.SignedRank(d), center, se, nu}
}

// Blocks is their number.
func (p Pairs) Blocks() int { return p.n }

// Moments are those of a t interval: its centre, standard error and degrees of freedom.
func (p Pairs) Moments() (center, se, nu float64) { return p.center, p.se, p.nu }

// Floor is the least p that the signed-rank test can give.
func (p Pairs) Floor() float64 { return stats.SignedRankFloor(p.n) }

// P tests that the ratio is 1, two-sided. NaN where there are too few pairs.
func (p Pairs) P(t Test) float64 {
	switch {
	case p.n < t.From:
		return math.NaN()
	case t.Ranks:
		return p.ranks
	}
	return stats.StudentP(p.center, max(p.se, t.Least), p.nu)
}

// Identical says that all values of both are one number: counts and sizes.
func Identical(a, b []float64) bool {
	for _, x := range [][]float64{a, b} {
		for _, v := range x {
			if v != a[0] {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// Tested is the size of a family that Holm corrects over.
func Tested(p []float64) int {
	return lists.Count(p, func(v float64) bool { return !math.IsNaN(v) })
}

// OneSided is the chance of any false failure in the gate.
const OneSided = Alpha / 2
