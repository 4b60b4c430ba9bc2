package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// csvHead names the columns: one row for each workload, environment and
// metric, in the metric's own unit, full precision; nothing is left out.
var csvHead = []string{
	"run", "study", "workload", "environment", "engine", "baseline", "levels",
	"metric", "unit", "better",
	"trials", "failed", "time_outs", "failures", "n", "blocks",
	"median", "median_lo", "median_hi", "spread", "min", "max",
	"p95", "p95_lo", "p95_hi", "p99", "p99_lo", "p99_hi", "outliers", "group", "place_first", "place_last",
	"native", "native_ratio", "native_lo", "native_hi", "native_verdict",
	"floor", "floor_ratio", "floor_lo", "floor_hi", "floor_verdict",
	"host", "host_ratio", "host_lo", "host_hi", "host_verdict",
	"missing",
}

func writeCSV(res *analyze.Result, opts Options) [][]string {
	rows := [][]string{csvHead}
	for i := range res.Workloads {
		work := &res.Workloads[i]
		for k := range work.Tables {
			t := &work.Tables[k]
			if opts.Metric != "" && t.Metric.ID != opts.Metric {
				continue
			}
			for e := range t.Cells {
				if t.Cells[e].Missing != analyze.NotAsked {
					rows = append(rows, csvRow(res, work, t, e))
				}
			}
		}
	}
	for _, x := range res.Excluded {
		row := make([]string, len(csvHead))
		row[0], row[1], row[2] = words.Clean(res.Run.ID), words.Clean(res.Run.Study), words.Clean(x.Workload)
		row[3], row[4], row[6] = words.Clean(x.ID), words.Clean(x.Engine), pairs(x.Levels)
		row[len(row)-1] = words.Clean(x.Kind + ": " + x.Reason)
		rows = append(rows, row)
	}
	return rows
}

func csvRow(res *analyze.Result, work *analyze.Workload, t *analyze.Table, e int) []string {
	c, env, n := &t.Cells[e], res.Environments[e], work.Counts[e]
	classes := lists.Map(n.Classes, func(f sample.Failure) string { return fmt.Sprintf("%s:%d", f.Class, f.N) })
	row := []string{
		words.Clean(res.Run.ID), words.Clean(res.Run.Study), words.Clean(work.ID), words.Clean(env.ID), words.Clean(env.Engine), words.Clean(env.Baseline), pairs(env.Levels),
		words.Clean(t.Metric.ID), words.Clean(t.Metric.Unit), string(betterOf(t.Metric)),
		strconv.Itoa(n.Trials), strconv.Itoa(n.Failed), strconv.Itoa(n.Censored), words.Clean(strings.Join(classes, ";")),
		strconv.Itoa(c.N), strconv.Itoa(c.Blocks),
	}
	row = append(row, three(c.Median)...)
	row = append(row, plain(c.Spread), plain(c.Min), plain(c.Max))
	row = append(row, three(c.P95)...)
	row = append(row, three(c.P99)...)
	row = append(row, strconv.Itoa(c.Outliers), c.Group)
	if c.Places != nil {
		row = append(row, strconv.Itoa(c.Places.First), strconv.Itoa(c.Places.Last))
	} else {
		row = append(row, "", "")
	}
	for _, b := range analyze.Baselines {
		q := c.Ratio(b)
		if q == nil || q.Missing != "" {
			row = append(row, "", "", "", "", "")
			continue
		}
		row = append(row, words.Clean(q.Env))
		row = append(row, three(&q.Estimate)...)
		row = append(row, string(q.Verdict))
	}
	return append(row, words.Clean(c.Missing))
}

func betterOf(m record.Metric) record.Direction {
	return cmp.Or(m.Better, record.LowerIsBetter)
}

func three(e *sample.Estimate) []string {
	if e == nil {
		return []string{"", "", ""}
	}
	return []string{plain(&e.Value), plain(e.Lo), plain(e.Hi)}
}

func plain(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func pairs(m map[string]string) string {
	out := lists.Map(slices.Sorted(maps.Keys(m)), func(k string) string { return k + "=" + m[k] })
	return words.Clean(strings.Join(out, ";"))
}
