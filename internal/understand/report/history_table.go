package report

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// addHistoryTables are the series of each metric of each workload. Where there is
// too little room the sparks give way, then the intervals, then what a level is
// of.
func addHistoryTables(d *document.Document, h *history.History, sparks bool) {
	type key struct{ work, metric string }
	var tables analyze.Grouped[key, int]
	for i := range h.Series {
		tables.Add(key{h.Series[i].Workload, h.Series[i].Metric.ID}, i)
	}
	for k, of := range tables.All() {
		m := h.Series[of[0]].Metric
		t := historyTable(h, of, sparks)
		wide := func() bool { return d.Medium == document.Text && t.Width() > d.Width }
		if sparks && wide() {
			t = historyTable(h, of, false)
		}
		if wide() {
			t.DropTails(2)
		}
		if wide() {
			t.Drop(3, 4)
		}
		d.Heading(2, words.Clean(k.work)+": "+words.Clean(cmp.Or(m.Title, m.ID))+"; "+words.Better(m))
		d.Gap(document.Text)
		d.Add(t)
	}
}

// historyTable has a row for each series: its level now, and its changes.
func historyTable(h *history.History, series []int, sparks bool) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "runs", "level now", "of")}
	t.Columns[1].Right, t.Columns[2].Points = true, true
	if sparks {
		t.Columns = append(t.Columns, document.Column{Title: "runs, the oldest first"})
	}
	t.Columns = append(t.Columns, document.Column{Title: "changes"})
	var absolute []float64
	for _, i := range series {
		if s := &h.Series[i]; s.Against == "" {
			for _, r := range s.Regimes {
				absolute = append(absolute, r.Level.Value)
			}
		}
	}
	u := words.UnitFor(h.Series[series[0]].Metric.Unit, absolute)
	name := shortNames(lists.Map(series, func(i int) string { return h.Series[i].Env }))
	for _, i := range series {
		s := &h.Series[i]
		runs, n := 0, words.Number{Value: "n/a"}
		for _, r := range s.Regimes {
			runs += r.Runs
		}
		if len(s.Regimes) > 0 {
			by := 1.0
			if s.Against == "" {
				by = u.By
			}
			n = words.NumberOf(s.Regimes[len(s.Regimes)-1].Level, by, 3)
		}
		r := document.Row{Cells: document.Cells(name(s.Env), strconv.Itoa(runs), n.Value, ofText(s, u.Name))}
		r.Cells[2].Tail = n.Interval
		if sparks {
			r.Cells = append(r.Cells, document.Cell{Text: spark(s)})
		}
		text, warn := seriesText(h, i)
		r.Cells = append(r.Cells, document.Cell{Text: text})
		if warn {
			r.Tone = document.Warn
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}

// ofText says what a level is a multiple of.
func ofText(s *history.Series, unit string) string {
	switch {
	case s.Against == "":
		return words.Clean(unit)
	case s.AgainstMetric != s.Metric.ID:
		return s.Against + "'s " + words.Clean(s.AgainstMetric)
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
		parts = append(parts, "n/a: "+words.Clean(s.Points[len(s.Points)-1].Missing))
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
	s := fmt.Sprintf("%s × %s since %s", c.Direction, words.Fixed(c.Ratio.Value, 2), words.Clean(h.Runs[c.After].Run))
	if !c.Confirmed {
		s += "?"
	}
	return s
}

// spark draws a series in one line, on a logarithmic scale from its smallest
// to its largest value; a dot stands for a run without one.
func spark(s *history.Series) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		if p.Estimate != nil {
			lo, hi = min(lo, math.Log(p.Value)), max(hi, math.Log(p.Value))
		}
	}
	// A scale of less than ±5 % would make mountains of noise.
	if wide := 0.1; hi-lo < wide {
		middle := (lo + hi) / 2
		lo, hi = middle-wide/2, middle+wide/2
	}
	var b strings.Builder
	for _, p := range s.Points[max(0, len(s.Points)-maxSpark):] {
		if p.Estimate == nil {
			b.WriteRune('·')
			continue
		}
		k := int((math.Log(p.Value) - lo) / (hi - lo) * float64(len(eighths)))
		b.WriteRune(eighths[min(max(k, 0), len(eighths)-1)])
	}
	return b.String()
}

// maxSpark is how many runs a spark shows: the last ones.
const maxSpark = 40
