package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
)

var historyFormats = formatsOf[*history.Histories]{
	{"text", historyText},
	{"markdown", historyMarkdown},
	{"csv", historyCSV},
	{"json", asJSON[*history.Histories]},
}

// HistoryFormats lists the formats of WriteHistories.
func HistoryFormats() []string { return historyFormats.names() }

// WriteHistories renders what many runs say of change.
func WriteHistories(w io.Writer, name string, h *history.Histories, opts Options) error {
	return historyFormats.write(w, name, "a history", h, opts)
}

// historyCSV has a row for each run of each series, and one for each directory
// that was skipped. regime counts the levels from 1; change is empty, "better"
// or "worse" at the first run of a new level, with its ratio to the old one.
func historyCSV(w io.Writer, all *history.Histories, _ Options) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"history", "study", "dir", "run", "started", "workload", "environment", "metric", "unit", "better",
		"over", "over_metric", "value", "lo", "hi", "regime", "change", "confirmed", "ratio", "ratio_lo", "ratio_hi", "p", "missing"}); err != nil {
		return err
	}
	for i := range all.Histories {
		h := &all.Histories[i]
		for k := range h.Series {
			for r := range h.Runs {
				if err := out.Write(historyRow(h, i, k, r)); err != nil {
					return err
				}
			}
		}
	}
	for _, s := range all.Skipped {
		row := make([]string, 23)
		row[2], row[22] = clean(s.Dir), clean(s.Reason)
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func historyRow(h *history.History, i, k, r int) []string {
	s, run, point := &h.Series[k], h.Runs[r], h.Series[k].Points[r]
	unit := s.Metric.Unit
	if s.Against != "" {
		unit = "ratio"
	}
	row := []string{strconv.Itoa(i + 1), clean(h.Study), clean(run.Dir), clean(run.Run), run.Started.UTC().Format(time.RFC3339),
		clean(s.Workload), clean(s.Env), clean(s.Metric.ID), clean(unit), string(betterOf(s.Metric)), s.Against, clean(s.AgainstMetric)}
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
	return append(row, clean(point.Missing))
}

// historyTable is the series of one metric of one workload.
type historyTable struct {
	title string
	grid  *grid
}

// historyTables fits them into a width; 0 is any. Where there is too little
// room the sparks give way, then the intervals, then what a level is of.
func historyTables(h *history.History, sparks bool, room int) []historyTable {
	type key struct{ work, metric string }
	var order []key
	of := map[key][]int{}
	for i := range h.Series {
		k := key{h.Series[i].Workload, h.Series[i].Metric.ID}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], i)
	}
	var out []historyTable
	for _, k := range order {
		m := h.Series[of[k][0]].Metric
		g := historyGrid(h, of[k], sparks)
		if sparks && room > 0 && g.width() > room {
			g = historyGrid(h, of[k], false)
		}
		if room > 0 && g.width() > room {
			for i := range g.rows {
				g.rows[i].cells[2], _, _ = strings.Cut(g.rows[i].cells[2], " [")
			}
		}
		if room > 0 && g.width() > room {
			g.cols = slices.Delete(g.cols, 3, 4)
			for i := range g.rows {
				g.rows[i].cells = slices.Delete(g.rows[i].cells, 3, 4)
			}
		}
		out = append(out, historyTable{title: clean(k.work) + ": " + clean(firstOf(m.Title, m.ID)) + "; " + better(m), grid: g})
	}
	return out
}

// historyGrid has a row for each series: its level now, and its changes.
func historyGrid(h *history.History, series []int, sparks bool) *grid {
	g := &grid{cols: []col{{title: "environment"}, {title: "runs", right: true}, {title: "level now"}, {title: "of"}}}
	if sparks {
		g.cols = append(g.cols, col{title: "runs, the oldest first"})
	}
	g.cols = append(g.cols, col{title: "changes"})
	var absolute []float64
	for _, i := range series {
		if s := &h.Series[i]; s.Against == "" {
			for _, r := range s.Regimes {
				absolute = append(absolute, r.Level.Value)
			}
		}
	}
	u := scaleFor(h.Series[series[0]].Metric.Unit, absolute)
	var numbers, tails []string
	for _, i := range series {
		s := &h.Series[i]
		by := 1.0
		if s.Against == "" {
			by = u.by
		}
		n := number{value: "n/a"}
		if len(s.Regimes) > 0 {
			n = numberOf(s.Regimes[len(s.Regimes)-1].Level, by, 3)
		}
		numbers, tails = append(numbers, n.value), append(tails, n.interval)
	}
	numbers = align(numbers)
	for k, i := range series {
		s := &h.Series[i]
		n := 0
		for _, r := range s.Regimes {
			n += r.Runs
		}
		row := row{cells: []string{nameOf(s.Env), strconv.Itoa(n), strings.TrimRight(numbers[k]+" "+tails[k], " "), ofText(s, u.unit)}}
		if sparks {
			row.cells = append(row.cells, spark(s))
		}
		text, warn := seriesText(h, i)
		row.cells = append(row.cells, text)
		if warn {
			row.style = "warn"
		}
		g.rows = append(g.rows, row)
	}
	return g
}

// ofText says what a level is a multiple of.
func ofText(s *history.Series, unit string) string {
	switch {
	case s.Against == "":
		return clean(unit)
	case s.AgainstMetric != s.Metric.ID:
		return s.Against + "'s " + clean(s.AgainstMetric)
	}
	return s.Against
}

// seriesText lists the changes of a series in short.
func seriesText(h *history.History, at int) (text string, warn bool) {
	var parts []string
	for _, c := range h.Changes {
		if c.Series == at {
			parts = append(parts, changeShort(h, &c))
			warn = warn || c.Direction == compare.Worse && (c.Standing || !c.Confirmed)
		}
	}
	s := &h.Series[at]
	switch {
	case len(s.Regimes) == 0:
		parts = append(parts, "n/a: "+clean(s.Points[len(s.Points)-1].Missing))
	case s.Points[len(s.Points)-1].Missing != "":
		parts, warn = append(parts, "not in the last run"), true
	case s.Short && len(parts) == 0:
		parts = append(parts, "too few runs to tell")
	case len(parts) == 0:
		parts = append(parts, "none")
	}
	return strings.Join(parts, "; "), warn
}

func changeShort(h *history.History, c *history.Change) string {
	s := fmt.Sprintf("%s × %s since %s", c.Direction, fixed(c.Ratio.Value, 2), clean(h.Runs[c.After].Run))
	if !c.Confirmed {
		s += "?"
	}
	return s
}
