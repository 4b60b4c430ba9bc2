package analyze

import (
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// Judge takes back each "differs" of a family of paired comparisons whose p,
// corrected by Holm over the family, is not below 5 %: an interval of 95 %
// alone calls one of many equal environments different far too often. It gives p
// and the corrected p, NaN where nothing could be tested, and about how many
// blocks might keep a verdict that was taken back.
func Judge(family []sample.Pairs, verdicts []*Verdict) (p, holm []float64, needed []int) {
	by := sample.TestOf(family, sample.MinT, sample.Alpha)
	p = lists.Map(family, func(s sample.Pairs) float64 { return s.P(by) })
	holm = stats.Holm(p)
	needed = make([]int, len(p))
	for i, v := range verdicts {
		if *v == Differs && !(holm[i] < sample.Alpha) {
			*v, needed[i] = CannotTell, enough(family[i].Blocks(), p[i], len(p))
		}
	}
	return p, holm, needed
}

// enough is about how many blocks would take p below the level that a family
// asks of its smallest: the normal deviate grows with the root of their number.
func enough(n int, p float64, family int) int {
	want, have := stats.Deviate(sample.Alpha/float64(family)), stats.Deviate(p)
	needed := math.Ceil(float64(n) * math.Pow(want/have, 2))
	if !(needed <= 10_000) {
		return 0
	}
	return max(int(needed), n+1)
}
