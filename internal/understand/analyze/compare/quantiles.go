package compare

import (
	"cmp"
	"fmt"
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// quantiles compares one quantile of each cell that was compared, from all of
// its values: of two runs each divided by what the baseline did in that block.
func (c *Changes) quantiles(o Options) {
	var logs [][2][][]float64
	for i := range c.Cells {
		ch := c.Cells[i]
		if ch.Base == nil || ch.New == nil || ch.Metric.Kind != "" || ch.Method == "identical" {
			continue
		}
		q := Change{Workload: ch.Workload, Metric: ch.Metric, Env: ch.Env, NewEnv: ch.NewEnv, Engine: ch.Engine, Levels: ch.Levels,
			Against: ch.Against, AgainstMetric: ch.AgainstMetric, Control: ch.Control, Missing: ch.Missing, BaseBlocks: ch.BaseBlocks, NewBlocks: ch.NewBlocks, Quantile: o.Quantile}
		q.Sample.Paired = ch.Sample.Paired
		var both [2][][]float64
		for k, side := range []struct {
			r   *analyze.Result
			env string
		}{{c.BaseRun, ch.Env}, {c.NewRun, cmp.Or(ch.NewEnv, ch.Env)}} {
			ok := false
			w := side.r.Workload(ch.Workload)
			cell := w.Table(ch.Metric.ID).Cell(side.env)
			if cell.Values == nil {
				q.Missing = "its values were not kept"
				continue
			}
			if both[k], ok = logValues(cell, ch.by[k]); !ok {
				q.Missing = noLog
				continue
			}
			v, in, _, known := stats.BlockQuantile(cell.Values, o.Quantile, stats.Level)
			e := sample.NewEstimate(v, in, known)
			if k == 0 {
				q.Base, q.BaseN = e, countValues(cell.Values)
			} else {
				q.New, q.NewN = e, countValues(cell.Values)
			}
		}
		c.Quantiles, logs = append(c.Quantiles, q), append(logs, both)
	}
	level := 1 - sample.Alpha/float64(max(1, len(c.Quantiles)))
	for i := range c.Quantiles {
		if q := &c.Quantiles[i]; q.Missing == "" {
			q.compareQuantile(logs[i][1], logs[i][0], c.Delta, level)
		}
	}
}

// compareQuantile estimates x over y, and judges at the level.
func (c *Change) compareQuantile(x, y [][]float64, delta, level float64) {
	d, in, few, ok := stats.RatioOfQuantiles(x, y, c.Quantile, stats.Level)
	c.Verdict = Unclear
	if !ok {
		c.Missing = fmt.Sprintf("n too small: %s needs %d values on either side, and here there are %d", QuantileName(c.Quantile), stats.QuantileNeeds(c.Quantile, stats.Level), few)
		if few < min(countValues(x), countValues(y)) {
			c.Missing += " (more, but they move together by block)"
		}
		return
	}
	c.Method, c.Ratio = "order-statistics", &sample.Estimate{Value: math.Exp(d)}
	c.Ratio.Lo, c.Ratio.Hi = new(math.Exp(in.Lo)), new(math.Exp(in.Hi))
	if v, _ := analyze.VerdictOf(d, in, 1, delta); v == analyze.Equal {
		c.Verdict = Same
		return
	}
	_, in, _, ok = stats.RatioOfQuantiles(x, y, c.Quantile, level)
	if v, _ := analyze.VerdictOf(d, in, 1, delta); !ok || v != analyze.Differs {
		return
	}
	c.Verdict = Better
	if (d < 0) == (c.Metric.Better == record.HigherIsBetter) {
		c.Verdict = Worse
	}
}

// logValues gives the logarithms of all values by block, over what the baseline
// did there. It is false where one is not positive.
func logValues(cell *analyze.Cell, by []float64) (out [][]float64, ok bool) {
	for b, values := range cell.Values {
		shift := 0.0
		if by != nil {
			if b >= len(by) || !(by[b] > 0) {
				continue
			}
			shift = math.Log(by[b])
		}
		var block []float64
		for _, v := range values {
			if v <= 0 {
				return nil, false
			}
			block = append(block, math.Log(v)-shift)
		}
		if block != nil {
			out = append(out, block)
		}
	}
	return out, true
}

func countValues(blocks [][]float64) int {
	n := 0
	for _, b := range blocks {
		n += len(b)
	}
	return n
}

// QuantileName is "p95" for 0.95.
func QuantileName(q float64) string { return fmt.Sprintf("p%.4g", 100*q) }
