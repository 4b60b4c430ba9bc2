package analyze

import (
	"math"

	"plimsoll/internal/stats"
)

// sample holds what a change is estimated from, on logarithms: of pairs the
// differences in x alone, of two runs the blocks of NEW in x and of BASE in y.
type sample struct {
	x, y   []float64
	paired bool
}

// blocks is the number of blocks on the side that has fewer.
func (s sample) blocks() int {
	if s.paired {
		return len(s.x)
	}
	return min(len(s.x), len(s.y))
}

// estimate is the log ratio with its interval of a level. The last result is false where the sample cannot
// carry an interval.
func (s sample) estimate(level float64) (center float64, i stats.Interval, method string, ok bool) {
	switch {
	case s.paired && s.blocks() >= minRank:
		center, i, ok = stats.PseudoMedian(s.x, level)
		return center, i, "hodges-lehmann", ok
	case s.paired:
		center, i, ok = stats.TInterval(s.x, level)
		return center, i, "t", ok && s.blocks() >= minT
	case s.blocks() >= minRank:
		center, i, ok = stats.Shift(s.x, s.y, level)
		return center, i, "hodges-lehmann", ok
	}
	center, i, ok = stats.WelchInterval(s.x, s.y, level)
	return center, i, "welch", ok && s.blocks() >= minT
}

// p tests that the log ratio is shift, two-sided, by ranks or by means. NaN
// where the sample is too small to be tested.
func (s sample) p(shift float64, ranks bool) float64 {
	if s.blocks() < minT {
		return math.NaN()
	}
	moved := make([]float64, len(s.x))
	for i, v := range s.x {
		moved[i] = v - shift
	}
	switch {
	case s.paired && ranks:
		return stats.SignedRank(moved)
	case s.paired:
		return stats.TTest(moved)
	case ranks:
		return stats.MannWhitney(moved, s.y)
	}
	return stats.WelchTest(moved, s.y)
}

// floor is the smallest p that ranks can give.
func (s sample) floor() float64 {
	if s.paired {
		return stats.SignedRankFloor(len(s.x))
	}
	return stats.MannWhitneyFloor(len(s.x), len(s.y))
}

// ranked says whether a family of tests can go by ranks. As in a ranking, the
// choice depends on the number of blocks and of tests, never on the values:
// where ranks could not reach the corrected level, means take their place.
func ranked(family []sample, level float64) bool {
	n, floor := 0, 0.0
	for _, s := range family {
		if s.blocks() >= minT {
			n++
			floor = max(floor, s.floor())
		}
	}
	return floor*float64(n) <= level
}

// testName names the test of a family.
func testName(paired, ranks bool) string {
	switch {
	case paired && ranks:
		return "signed-rank"
	case paired:
		return "t"
	case ranks:
		return "Mann-Whitney"
	}
	return "Welch"
}
