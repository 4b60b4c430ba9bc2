package report

import (
	"slices"
	"strconv"
	"time"

	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/words"
)

// Histories are what many runs say of change.
var Histories = kindOf("a history", historyDocument,
	format[*history.Histories]{"csv", asCSV(historyCSV)},
	format[*history.Histories]{"json", asJSON[*history.Histories]},
)

// historyCSV has a row for each run of each series, and one for each directory
// that was skipped. regime counts the levels from 1; change is empty, "better"
// or "worse" at the first run of a new level, with its ratio to the old one.
func historyCSV(all *history.Histories, _ Options) [][]string {
	rows := [][]string{{"history", "study", "dir", "run", "started", "workload", "environment", "metric", "unit", "better",
		"over", "over_metric", "value", "lo", "hi", "regime", "change", "confirmed", "ratio", "ratio_lo", "ratio_hi", "p", "missing"}}
	for i := range all.Histories {
		h := &all.Histories[i]
		for k := range h.Series {
			for r := range h.Runs {
				rows = append(rows, historyRow(h, i, k, r))
			}
		}
	}
	for _, s := range all.Skipped {
		row := make([]string, 23)
		row[2], row[22] = words.Clean(s.Dir), words.Clean(s.Reason)
		rows = append(rows, row)
	}
	return rows
}

func historyRow(h *history.History, i, k, r int) []string {
	s, run, point := &h.Series[k], h.Runs[r], h.Series[k].Points[r]
	unit := s.Metric.Unit
	if s.Against != "" {
		unit = "ratio"
	}
	row := []string{strconv.Itoa(i + 1), words.Clean(h.Study), words.Clean(run.Dir), words.Clean(run.Run), run.Started.UTC().Format(time.RFC3339),
		words.Clean(s.Workload), words.Clean(s.Env), words.Clean(s.Metric.ID), words.Clean(unit), string(betterOf(s.Metric)), s.Against, words.Clean(s.AgainstMetric)}
	row = append(row, three(point.Estimate)...)
	regime := ""
	if point.Missing == "" {
		regime = strconv.Itoa(1 + slices.IndexFunc(s.Regimes, func(g history.Regime) bool { return r <= g.Last }))
	}
	row = append(row, regime)
	if c := slices.IndexFunc(h.Changes, func(c history.Change) bool { return c.Series == k && c.After == r }); c >= 0 {
		ch := &h.Changes[c]
		row = append(row, string(ch.Direction), strconv.FormatBool(ch.Confirmed))
		row = append(row, three(&ch.Ratio)...)
		row = append(row, plain(&ch.P))
	} else {
		row = append(row, "", "", "", "", "", "")
	}
	return append(row, words.Clean(point.Missing))
}
