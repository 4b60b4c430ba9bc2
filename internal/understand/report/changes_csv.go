package report

import (
	"slices"
	"strconv"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/words"
)

// changesCSV has a row for each metric of each workload in each environment, and one for
// each quantile that was compared.
func changesCSV(c *compare.Changes, _ Options) [][]string {
	rows := [][]string{{"workload", "metric", "unit", "environment", "new_environment", "quantile", "against", "base", "base_lo", "base_hi",
		"new", "new_lo", "new_hi", "ratio", "ratio_lo", "ratio_hi", "base_blocks", "new_blocks", "verdict", "p", "holm", "missing"}}
	for _, x := range slices.Concat(c.Cells, c.Quantiles) {
		quantile := ""
		if x.Quantile != 0 {
			quantile = plain(&x.Quantile)
		}
		row := []string{words.Clean(x.Workload), words.Clean(x.Metric.ID), words.Clean(x.Metric.Unit), words.Clean(x.Env), words.Clean(x.NewEnv), quantile, words.Clean(x.Against)}
		row = slices.Concat(row, three(x.Base), three(x.New), three(x.Ratio))
		rows = append(rows, append(row, strconv.Itoa(x.BaseBlocks), strconv.Itoa(x.NewBlocks), string(x.Verdict), plain(x.P), plain(x.Holm), words.Clean(x.Missing)))
	}
	return rows
}

// hostChangesCSV has a row for each change on each host, and one for each change over
// all machines, whose host is empty.
func hostChangesCSV(c *hosts.Changes, _ Options) [][]string {
	rows := [][]string{{"workload", "metric", "unit", "environment", "host", "base", "base_lo", "base_hi", "new", "new_lo", "new_hi",
		"ratio", "ratio_lo", "ratio_hi", "blocks", "verdict", "p", "holm", "spread", "i2", "holds", "missing"}}
	for i := range c.Rows {
		r := &c.Rows[i]
		head := []string{words.Clean(r.Workload), words.Clean(r.Metric.ID), words.Clean(r.Metric.Unit), words.Clean(r.Env)}
		for k, a := range r.Hosts {
			row := slices.Concat(head, []string{words.Clean(c.Hosts[k].Label)}, three(a.Base), three(a.New), three(a.Ratio))
			rows = append(rows, append(row, strconv.Itoa(a.Blocks), string(a.Verdict), plain(a.P), plain(a.Holm), "", "", "", words.Clean(a.Missing)))
		}
		p, holm := "", ""
		if d := r.Differ; d != nil {
			p, holm = plain(&d.P), plain(&d.Holm)
		}
		pooled, spread, i2 := three(nil), "", ""
		if x := r.Pooled; x != nil {
			pooled, spread, i2 = three(&x.Ratio), plain(&x.Spread.Value), plain(&x.I2)
		}
		row := slices.Concat(head, []string{""}, three(nil), three(nil), pooled)
		rows = append(rows, append(row, "", string(r.Verdict), p, holm, spread, i2, string(r.Holds), ""))
	}
	return rows
}
