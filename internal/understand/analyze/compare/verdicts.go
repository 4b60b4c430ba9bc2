package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// finish filters, tests and gives verdicts.
func (c *Changes) finish(o Options) error {
	if err := c.Keep(o); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Cells, func(ch Change) bool { return ch.Base != nil && ch.New != nil }) {
		var why []string
		for i := range c.Cells {
			if m := c.Cells[i].Missing; m != "" && !slices.Contains(why, m) && len(why) < 3 {
				why = append(why, m)
			}
		}
		return fmt.Errorf("comparing: the two have nothing in common (%s); give two runs of one study", strings.Join(why, "; "))
	}
	c.Estimate()
	if o.Quantile > 0 {
		c.quantiles(o)
	}
	c.judgeFailures()
	c.Moved = c.moved()
	c.Grouping = c.group(o.Row, o.Col)
	c.remarks()
	return nil
}

// Estimate estimates each cell and corrects the family.
func (c *Changes) Estimate() {
	family := lists.Map(c.Cells, func(ch Change) sample.Sample { return ch.Sample })
	by := sample.TestOf(family, sample.MinT, sample.Alpha)
	c.Test = sample.TestName(c.Interleaved, by.Ranks)
	p := lists.Map(family, func(s sample.Sample) float64 { return s.HoldingP(0, by) })
	holm := stats.Holm(p)
	c.Tested = sample.Tested(p)
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.Sample.Blocks() == 0 {
			if ch.Missing == "" && ch.Method == "" {
				ch.Missing = "no block has a value of both it and " + ch.Against
			}
			continue
		}
		center, in, method, ok := ch.Sample.Holding(stats.Level)
		ch.Method, ch.Ratio, ch.Verdict = method, &sample.Estimate{Value: math.Exp(center)}, Unclear
		if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && !math.IsInf(hi, 0) {
			ch.Ratio.Lo, ch.Ratio.Hi = &lo, &hi
			ch.Verdict, ch.BlocksNeeded = direction(ch.Metric.Better, center, in, ch.Sample.Blocks(), c.Delta, holm[i])
			if ch.Sample.Runs != nil || ch.Sample.Machine != (stats.Interval{}) {
				ch.BlocksNeeded = 0 // more of them would not narrow what is between the runs
			}
		}
		if !math.IsNaN(p[i]) {
			ch.P, ch.Holm = &p[i], &holm[i]
		}
	}
}

// direction gives one of the four verdicts.
func direction(better record.Direction, center float64, i stats.Interval, n int, delta, holm float64) (Direction, int) {
	v, needed := analyze.VerdictOf(center, i, n, delta)
	switch {
	case v == analyze.Equal:
		return Same, 0
	case v == analyze.CannotTell:
		return Unclear, needed
	case !(holm < sample.Alpha):
		return Unclear, 0
	case (center < 0) == (better == record.HigherIsBetter):
		return Worse, 0
	}
	return Better, 0
}
