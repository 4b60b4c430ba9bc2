package analyze

import "math"

// compare makes two samples of the block medians, each divided by what the
// baseline did in the same block where there is one.
func (c *Changes) compare(ch *Change, works [2]*Workload, tables [2]*Table, cells [2]*Cell, against string) {
	var by [2][]float64
	if against != "none" && !ownScale(ch.Metric.Unit) {
		by, ch.Against, ch.AgainstMetric = yardstick(works, tables, cells, against)
	}
	if ch.Against == "" && identical(cells[0].medians, cells[1].medians) {
		ch.Ratio, ch.Method, ch.Verdict = &Estimate{Value: 1}, "identical", Same
		return
	}
	var logs [2][]float64
	for k := range cells {
		for b, v := range cells[k].byBlock {
			if math.IsNaN(v) {
				continue
			}
			if v <= 0 {
				ch.Missing = "a value is 0 or negative: it has no ratio"
				return
			}
			l := math.Log(v)
			if ch.Against != "" {
				if b >= len(by[k]) || !(by[k][b] > 0) {
					continue
				}
				l -= math.Log(by[k][b])
			}
			logs[k] = append(logs[k], l)
		}
	}
	ch.BaseBlocks, ch.NewBlocks = len(logs[0]), len(logs[1])
	ch.sample = sample{x: logs[1], y: logs[0]}
}

// identical says that all values of both are one number: counts and sizes.
func identical(a, b []float64) bool {
	for _, x := range [][]float64{a, b} {
		for _, v := range x {
			if v != a[0] {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// yardstick finds the baseline that both cells are divided by: the same metric
// of it, and for a step that it has not, its start-up, which tells as much
// about the speed of the machine in that block.
func yardstick(works [2]*Workload, tables [2]*Table, cells [2]*Cell, only string) (by [2][]float64, name, metric string) {
	metrics := []string{tables[0].Metric.ID}
	if tables[0].Metric.From != "" {
		metrics = append(metrics, "startup")
	}
	for _, m := range metrics {
		for _, name := range Baselines {
			if only != "" && name != only {
				continue
			}
			ok := true
			for k := range works {
				q := cells[k].Ratio(name)
				t := works[k].Table(m)
				if q == nil || q.Env == cells[k].Env || t == nil || t.Cell(q.Env) == nil || t.Cell(q.Env).Median == nil {
					ok = false
					break
				}
				by[k] = t.Cell(q.Env).byBlock
			}
			if ok {
				return by, name, m
			}
		}
	}
	return by, "", ""
}
