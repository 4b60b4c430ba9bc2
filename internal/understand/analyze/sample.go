package analyze

import (
	"math"

	"plimsoll/internal/common/stats"
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

// estimate is the log ratio with its interval of a level. The last result is
// false where the sample cannot carry one.
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

// p tests that the log ratio is shift, two-sided. NaN where the sample is too
// small to be tested.
func (s sample) p(shift float64, t test) float64 {
	if s.blocks() < t.from {
		return math.NaN()
	}
	if !t.ranks {
		center, se, nu := s.moments()
		return stats.StudentP(center-shift, max(se, t.least), nu)
	}
	moved := make([]float64, len(s.x))
	for i, v := range s.x {
		moved[i] = v - shift
	}
	if s.paired {
		return stats.SignedRank(moved)
	}
	return stats.MannWhitney(moved, s.y)
}

// moments are the mean, its standard error and the degrees of freedom.
func (s sample) moments() (center, se, nu float64) {
	if s.paired {
		return stats.TMoments(s.x)
	}
	return stats.WelchMoments(s.x, s.y)
}

// floor is the smallest p that ranks can give.
func (s sample) floor() float64 {
	if s.paired {
		return stats.SignedRankFloor(len(s.x))
	}
	return stats.MannWhitneyFloor(len(s.x), len(s.y))
}

// test is how a family is tested: by ranks, or by means.
type test struct {
	ranks bool
	from  int     // the number of blocks from which there is a p
	least float64 // the least standard error of a mean
}

// testOf chooses the test of a family, of those that have from blocks. The
// choice depends on the number of blocks and of tests, never on the values:
// where ranks could not reach the corrected level, means take their place.
//
// Student's test believes a small spread. Where values have two humps or are
// rounded, all differences of one pair in a few blocks are the same by chance
// (each with a probability of up to 1/4 on either side), and among many pairs
// that happens to some. Where that is more likely than 5 %, no mean is taken
// for more certain than half of the family's.
func testOf(family []sample, from int, level float64) test {
	n, floor, chance := 0, 0.0, 0.0
	var errs []float64
	for _, s := range family {
		if s.blocks() < from {
			continue
		}
		n++
		floor = max(floor, s.floor())
		chance += 2 * math.Pow(0.25, float64(s.blocks()))
	}
	if n > 0 && floor*float64(n) <= level {
		return test{ranks: true, from: from}
	}
	if chance <= level {
		return test{from: from}
	}
	for _, s := range family {
		if s.blocks() >= from {
			_, se, _ := s.moments()
			errs = append(errs, se)
		}
	}
	return test{from: from, least: stats.Median(stats.Sorted(errs))}
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
