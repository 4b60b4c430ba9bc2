// Package sample estimates a number with its interval from the values of blocks,
// and tests families of such samples.
//
// Why it is so: docs/decisions/statistics.md.
package sample

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// Sample holds what a change is estimated from, on logarithms: of pairs the
// differences in x alone, of two runs the blocks of NEW in x and of BASE in y.
type Sample struct {
	X, Y   []float64
	Paired bool
	// Machine is what of the difference may be the machine's: the truth is the
	// estimate plus anything between its ends, of which Lo is not above 0 and Hi
	// not below.
	Machine stats.Interval
	// Apart is how far at least the ends of Machine lie apart, where the truth may be
	// anywhere between them; 0 where that is not known.
	Apart float64
	// Runs is the scatter between runs of the same thing, nil where it is not known.
	Runs *Runs
}

// Runs is what earlier runs of the same thing tell of the scatter between runs,
// on logarithms: the standard deviation of a run's centre, what its own blocks
// make of it included, and its degrees of freedom. (Kalibera & Jones 2013: the
// number of repetitions at the level that scatters is what counts.)
type Runs struct {
	SD, Nu float64
}

// Blocks is the number of blocks on the side that has fewer.
func (s Sample) Blocks() int {
	if s.Paired {
		return len(s.X)
	}
	return min(len(s.X), len(s.Y))
}

// Estimate is the log ratio with its interval of a level. The last result is
// false where the sample cannot carry one.
func (s Sample) Estimate(level float64) (center float64, i stats.Interval, method string, ok bool) {
	center, i, method, ok = s.estimate(level)
	i.Lo, i.Hi = i.Lo+s.Machine.Lo, i.Hi+s.Machine.Hi
	if ok && s.Runs != nil {
		h := math.Sqrt2 * s.Runs.SD * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: s.Runs.Nu}.Quantile(1-(1-level)/2)
		i.Lo, i.Hi = min(i.Lo, center-h), max(i.Hi, center+h)
	}
	return center, i, method, ok
}

// estimate is that from the scatter of the blocks alone.
func (s Sample) estimate(level float64) (center float64, i stats.Interval, method string, ok bool) {
	switch {
	case s.Paired && s.Blocks() >= MinRank:
		center, i, ok = stats.PseudoMedian(s.X, level)
		return center, i, "hodges-lehmann", ok
	case s.Paired:
		center, i, ok = stats.TInterval(s.X, level)
		return center, i, "t", ok && s.Blocks() >= MinT
	case s.Blocks() >= MinRank:
		center, i, ok = stats.Shift(s.X, s.Y, level)
		return center, i, "hodges-lehmann", ok
	}
	center, i, ok = stats.WelchInterval(s.X, s.Y, level)
	return center, i, "welch", ok && s.Blocks() >= MinT
}

// P tests that the log ratio is shift, two-sided. NaN where the sample is too
// small to be tested.
func (s Sample) P(shift float64, t Test) float64 {
	if s.Blocks() < t.From {
		return math.NaN()
	}
	p := s.p(shift, t)
	if s.Machine == (stats.Interval{}) && s.Runs == nil {
		return p
	}
	center, _, _, _ := s.estimate(stats.Level)
	lo, hi := center+s.Machine.Lo, center+s.Machine.Hi
	if lo <= shift && shift <= hi {
		return 1
	}
	p = max(p, s.p(shift-s.Machine.Lo, t), s.p(shift-s.Machine.Hi, t))
	if s.Runs != nil {
		p = max(p, stats.StudentP(max(lo-shift, shift-hi), math.Sqrt2*s.Runs.SD, s.Runs.Nu))
	}
	return p
}

// p is that by the blocks alone.
func (s Sample) p(shift float64, t Test) float64 {
	if !t.Ranks {
		center, se, nu := s.Moments()
		return stats.StudentP(center-shift, max(se, t.Least), nu)
	}
	moved := make([]float64, len(s.X))
	for i, v := range s.X {
		moved[i] = v - shift
	}
	if s.Paired {
		return stats.SignedRank(moved)
	}
	return stats.MannWhitney(moved, s.Y)
}

// Moments are the mean, its standard error and the degrees of freedom.
func (s Sample) Moments() (center, se, nu float64) {
	if s.Paired {
		return stats.TMoments(s.X)
	}
	return stats.WelchMoments(s.X, s.Y)
}

// Floor is the smallest p that ranks can give.
func (s Sample) Floor() float64 {
	if s.Paired {
		return stats.SignedRankFloor(len(s.X))
	}
	return stats.MannWhitneyFloor(len(s.X), len(s.Y))
}

// Test is how a family is tested: by ranks, or by means.
type Test struct {
	Ranks bool
	From  int     // the number of blocks from which there is a p
	Least float64 // the least standard error of a mean
}

// TestOf chooses the test of a family, of those that have from blocks. The
// choice depends on the number of blocks and of tests, never on the values:
// where ranks could not reach the corrected level, means take their place.
//
// Student's test believes a small spread. Where values have two humps or are
// rounded, all differences of one pair in a few blocks are the same by chance
// (each with a probability of up to 1/4 on either side), and among many pairs
// that happens to some. Where that is more likely than 5 %, no mean is taken
// for more certain than half of the family's.
func TestOf[S interface {
	Blocks() int
	Moments() (center, se, nu float64)
	Floor() float64
}](family []S, from int, level float64) Test {
	n, floor, chance := 0, 0.0, 0.0
	var errs []float64
	for _, s := range family {
		if s.Blocks() < from {
			continue
		}
		n++
		floor = max(floor, s.Floor())
		chance += 2 * math.Pow(0.25, float64(s.Blocks()))
	}
	if n > 0 && floor*float64(n) <= level {
		return Test{Ranks: true, From: from}
	}
	if chance <= level {
		return Test{From: from}
	}
	for _, s := range family {
		if s.Blocks() >= from {
			_, se, _ := s.Moments()
			errs = append(errs, se)
		}
	}
	return Test{From: from, Least: stats.Median(stats.Sorted(errs))}
}

// TestName names the test of a family.
func TestName(paired, ranks bool) string {
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

// Failure counts the failures of one class.
type Failure struct {
	Class record.Class `json:"class"`
	N     int          `json:"n"`
	Text  string       `json:"text"` // of the first
}
