package report

import (
	"strconv"

	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// hostsCSV has a row for each ratio on each host, and one for each ratio over all
// machines, whose host is empty.
func hostsCSV(h *hosts.Hosts, _ Options) [][]string {
	rows := [][]string{{"workload", "metric", "unit", "environment", "against", "host", "median", "median_lo", "median_hi",
		"against_median", "ratio", "ratio_lo", "ratio_hi", "blocks", "verdict", "p", "holm", "next_lo", "next_hi", "spread", "spread_lo", "spread_hi", "i2", "holds", "missing"}}
	for i := range h.Tables {
		t := &h.Tables[i]
		for k := range t.Rows {
			r := &t.Rows[k]
			for n := range r.Hosts {
				rows = append(rows, hostRow(h, t, r, n))
			}
			rows = append(rows, pooledRow(t, r))
		}
	}
	return rows
}

func rowHead(t *hosts.Table, r *hosts.Row, host string) []string {
	return []string{words.Clean(t.Workload), words.Clean(t.Metric.ID), words.Clean(t.Metric.Unit), words.Clean(r.Env), words.Clean(r.Against), words.Clean(host)}
}

func hostRow(h *hosts.Hosts, t *hosts.Table, r *hosts.Row, n int) []string {
	a := &r.Hosts[n]
	median := func(env string) *sample.Estimate {
		if x := timesOf(t, env); x != nil {
			return x.Hosts[n].Median
		}
		return nil
	}
	row := append(rowHead(t, r, h.Hosts[n].Label), three(median(r.Env))...)
	row = append(row, three(median(r.Against))[0])
	if a.Missing != "" {
		return append(row, "", "", "", "", "", "", "", "", "", "", "", "", "", "", words.Clean(a.Missing))
	}
	row = append(row, three(&a.Estimate)...)
	return append(row, strconv.Itoa(a.Blocks), string(a.Verdict), plain(a.P), plain(a.Holm), "", "", "", "", "", "", "", "")
}

func pooledRow(t *hosts.Table, r *hosts.Row) []string {
	row := append(rowHead(t, r, ""), "", "", "", "")
	p := r.Pooled
	if p == nil {
		p = &hosts.Pooled{}
		row = append(row, "", "", "")
	} else {
		row = append(row, three(&p.Ratio)...)
	}
	row = append(row, "", "")
	if d := r.Differ; d != nil {
		row = append(row, plain(&d.P), plain(&d.Holm))
	} else {
		row = append(row, "", "")
	}
	next := []string{"", "", ""}
	if p.Next != nil {
		next = three(p.Next)
	}
	row = append(row, next[1:]...)
	if p.Hosts > 0 {
		row = append(append(row, three(&p.Spread)...), plain(&p.I2))
	} else {
		row = append(row, "", "", "", "")
	}
	return append(row, string(r.Holds), "")
}
