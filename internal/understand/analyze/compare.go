package analyze

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// column is what comparisons need of an environment: its block medians, NaN where there
// is none, their logarithms, and the known medians in order.
type column struct{ values, logs, sorted []float64 }

func columnOf(medians []float64) *column {
	c := &column{values: medians, logs: lists.Map(medians, math.Log), sorted: stats.Known(medians)}
	stats.Sort(c.sorted)
	return c
}

// compared is a comparison with what its reverse and the test of its family take.
type compared struct {
	Comparison
	center   float64
	interval stats.Interval
	ok       bool
	pairs    sample.Pairs
}

// Compare estimates a over b from their block medians, and gives the log ratios of the
// blocks, in order.
func Compare(a, b []float64, delta float64) (Comparison, []float64) {
	c, d := compare(columnOf(a), columnOf(b), delta)
	return c.Comparison, d
}

func compare(a, b *column, delta float64) (c compared, d []float64) {
	d = make([]float64, 0, min(len(a.values), len(b.values)))
	x, y := a.sorted, b.sorted
	for i := range cap(d) {
		switch p, q := a.values[i], b.values[i]; {
		case math.IsNaN(p) || math.IsNaN(q):
		case p <= 0 || q <= 0:
			return compared{Comparison: Comparison{Missing: "a value is 0 or negative: it has no ratio"}}, nil
		default:
			d = append(d, a.logs[i]-b.logs[i])
		}
	}
	c.Blocks = len(d)
	if len(d) == 0 {
		c.Missing = "no block has a value of both"
		return c, nil
	}
	if len(d) < max(len(x), len(y)) {
		_, x, y, _ = sample.LogRatios(a.values, b.values)
	}
	c.Cliff = stats.CliffDelta(x, y)
	c.Effect = stats.Effect(c.Cliff)
	mean := stat.Mean(d, nil)
	stats.Sort(d)
	if c.pairs = sample.PairsOf(d); len(d) >= sample.MinRank {
		c.Method = "hodges-lehmann"
		c.center, c.interval, c.ok = stats.PseudoMedian(d, stats.Level)
		c.Skewed = math.Abs(mean-c.center) > c.interval.Width()
	} else {
		c.Method = "t"
		c.center, c.interval, c.ok = stats.TInterval(d, stats.Level)
		c.ok = c.ok && len(d) >= sample.MinT
	}
	c.estimate(delta)
	return c, d
}

// estimate fills in the ratio and what it says.
func (c *compared) estimate(delta float64) {
	c.Value, c.Lo, c.Hi, c.Verdict, c.BlocksNeeded = math.Exp(c.center), nil, nil, CannotTell, 0
	if c.ok {
		lo, hi := math.Exp(c.interval.Lo), math.Exp(c.interval.Hi)
		// Values that are far apart can take it beyond any number; JSON has no infinity.
		if !math.IsInf(hi, 0) {
			c.Lo, c.Hi = &lo, &hi
		}
		c.Verdict, c.BlocksNeeded = VerdictOf(c.center, c.interval, c.Blocks, delta)
	}
}

// reversed is the comparison of b over a.
func (c compared) reversed(delta float64) compared {
	if c.Missing == "" {
		c.center, c.interval, c.Cliff = -c.center, stats.Interval{Lo: -c.interval.Hi, Hi: -c.interval.Lo}, 0-c.Cliff
		c.estimate(delta)
	}
	return c
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
