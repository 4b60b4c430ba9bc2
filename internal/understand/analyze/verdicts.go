package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
)

// finish filters, tests and gives verdicts.
func (c *Changes) finish(o CompareOptions) error {
	if err := c.filter(o); err != nil {
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
	c.judgeCells()
	if o.Quantile > 0 {
		c.quantiles(o)
	}
	c.judgeFailures()
	c.Grouping = c.group(o.Row, o.Col)
	c.remarks()
	return nil
}

// judgeCells estimates each cell and corrects the family.
func (c *Changes) judgeCells() {
	family := make([]sample, len(c.Cells))
	for i := range c.Cells {
		family[i] = c.Cells[i].sample
	}
	by := testOf(family, minT, alpha)
	c.Test = testName(c.Interleaved, by.ranks)
	p := make([]float64, len(c.Cells))
	for i := range c.Cells {
		p[i] = family[i].p(0, by)
	}
	holm := stats.Holm(p)
	c.Tested = tested(p)
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.sample.blocks() == 0 {
			if ch.Missing == "" && ch.Method == "" {
				ch.Missing = "no block has a value of both it and " + ch.Against
			}
			continue
		}
		center, in, method, ok := ch.sample.estimate(stats.Level)
		ch.Method, ch.Ratio, ch.Verdict = method, &Estimate{Value: math.Exp(center)}, Unclear
		if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && !math.IsInf(hi, 0) {
			ch.Ratio.Lo, ch.Ratio.Hi = &lo, &hi
			ch.Verdict, ch.BlocksNeeded = direction(ch.Metric.Better, center, in, ch.sample.blocks(), c.Delta, holm[i])
		}
		if !math.IsNaN(p[i]) {
			ch.P, ch.Holm = &p[i], &holm[i]
		}
	}
}

// direction gives one of the four verdicts.
func direction(better record.Direction, center float64, i stats.Interval, n int, delta, holm float64) (Direction, int) {
	v, needed := verdict(center, i, n, delta)
	switch {
	case v == Equal:
		return Same, 0
	case v == CannotTell:
		return Unclear, needed
	case !(holm < alpha):
		return Unclear, 0
	case (center < 0) == (better == record.HigherIsBetter):
		return Worse, 0
	}
	return Better, 0
}
