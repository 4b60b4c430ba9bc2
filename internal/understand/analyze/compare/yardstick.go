package compare

import (
	"math"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// compare makes two samples of the block medians, less what the baselines beside
// them carry, or divided by the one that was asked for.
func (c *Changes) compare(ch *Change, works [2]*analyze.Workload, tables [2]*analyze.Table, cells [2]*analyze.Cell, o Options) {
	if o.Against != "none" && !OwnScale(ch.Metric.Unit) {
		if o.Against != "" || !c.controlled(ch, works, tables, cells, o.Earlier) {
			ch.by, ch.Against, ch.AgainstMetric = yardstick(works, tables, cells, o.Against)
		}
	}
	if ch.Against == "" && sample.Identical(cells[0].Medians, cells[1].Medians) {
		ch.Ratio, ch.Method, ch.Verdict = &sample.Estimate{Value: 1}, "identical", Same
		return
	}
	var logs [2][]float64
	for k, cell := range cells {
		if logs[k], ch.Missing = BlockLogs(cell, ch.by[k]); ch.Missing == noLog {
			return
		}
		ch.Missing = "" // a side without a block is said with the baseline's name
	}
	ch.BaseBlocks, ch.NewBlocks = len(logs[0]), len(logs[1])
	ch.Sample.X, ch.Sample.Y = logs[1], logs[0]
	if o.Against != "none" && !OwnScale(ch.Metric.Unit) {
		ch.otherState(works, cells)
	}
}

// yardstick finds the baseline that both cells are divided by: the same metric
// of it, and for a step that it has not, its start-up, which tells as much
// about the speed of the machine in that block.
func yardstick(works [2]*analyze.Workload, tables [2]*analyze.Table, cells [2]*analyze.Cell, only string) (by [2][]float64, name, metric string) {
	for _, m := range YardMetrics(tables[0].Metric) {
		for _, name := range analyze.Baselines {
			if only != "" && name != only {
				continue
			}
			by = [2][]float64{Yard(works[0], cells[0], name, m), Yard(works[1], cells[1], name, m)}
			if by[0] != nil && by[1] != nil {
				return by, name, m
			}
		}
	}
	return [2][]float64{}, "", ""
}

// YardMetrics are the metrics of a baseline by which one may be divided, the
// best first.
func YardMetrics(m record.Metric) []string {
	if m.From != "" && m.ID != "startup" {
		return []string{m.ID, "startup"}
	}
	return []string{m.ID}
}

// Yard gives what a baseline did in each block, or nil where it has no value,
// or is the cell itself.
func Yard(work *analyze.Workload, cell *analyze.Cell, name, metric string) []float64 {
	if cell == nil || cell.Ratio(name) == nil {
		return nil
	}
	env := cell.Ratio(name).Env
	t := work.Table(metric)
	if env == cell.Env || t == nil || t.Cell(env) == nil || t.Cell(env).Median == nil {
		return nil
	}
	return t.Cell(env).ByBlock
}

const noLog = "a value is 0 or negative: it has no ratio"

// BlockLogs gives the logarithms of a cell's block medians, each over what the
// baseline did in that block, where there is one. It says why there are none.
func BlockLogs(cell *analyze.Cell, by []float64) (logs []float64, why string) {
	for b, v := range cell.ByBlock {
		if math.IsNaN(v) {
			continue
		}
		if v <= 0 {
			return nil, noLog
		}
		l := math.Log(v)
		if by != nil {
			if b >= len(by) || !(by[b] > 0) {
				continue
			}
			l -= math.Log(by[b])
		}
		logs = append(logs, l)
	}
	if len(logs) == 0 {
		return nil, "no block has a value of both it and its baseline"
	}
	return logs, ""
}
