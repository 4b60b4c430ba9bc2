package analyze

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// Compare estimates a over b from their block medians.
func Compare(a, b []float64, delta float64) (Comparison, []float64) {
	d, x, y, ok := sample.LogRatios(a, b)
	if !ok {
		return Comparison{Missing: "a value is 0 or negative: it has no ratio"}, nil
	}
	c := Comparison{Blocks: len(d)}
	if len(d) == 0 {
		c.Missing = "no block has a value of both"
		return c, nil
	}
	var center float64
	var i stats.Interval
	if len(d) >= sample.MinRank {
		c.Method = "hodges-lehmann"
		center, i, ok = stats.PseudoMedian(d, stats.Level)
		c.Skewed = math.Abs(stat.Mean(d, nil)-center) > i.Width()
	} else {
		c.Method = "t"
		center, i, ok = stats.TInterval(d, stats.Level)
		ok = ok && len(d) >= sample.MinT
	}
	c.Value = math.Exp(center)
	if ok {
		lo, hi := math.Exp(i.Lo), math.Exp(i.Hi)
		// Values that are far apart can take it beyond any number; JSON has no infinity.
		if !math.IsInf(hi, 0) {
			c.Lo, c.Hi = &lo, &hi
		}
		c.Verdict, c.BlocksNeeded = VerdictOf(center, i, len(d), delta)
	} else {
		c.Verdict = CannotTell
	}
	c.Cliff = stats.CliffDelta(x, y)
	c.Effect = stats.Effect(c.Cliff)
	return c, d
}

// VerdictOf compares an interval of a log ratio with ±delta. Where it cannot
// tell, the half-width that would is scaled to blocks by its falling with the
// square root of their number.
func VerdictOf(center float64, i stats.Interval, n int, delta float64) (Verdict, int) {
	edge := math.Log1p(delta)
	switch {
	case i.Lo > edge || i.Hi < -edge:
		return Differs, 0
	case i.Lo >= -edge && i.Hi <= edge:
		return Equal, 0
	}
	gap := math.Abs(math.Abs(center) - edge)
	half := i.Width() / 2
	needed := math.Ceil(float64(n) * math.Pow(half/gap, 2))
	if !(needed <= 10_000) {
		return CannotTell, 0
	}
	return CannotTell, max(int(needed), n+1)
}
