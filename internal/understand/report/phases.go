package report

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// phases is the table of the medians of all phases that any environment has,
// in the order of the ranking.
func phases(r *ranking, shown []*ranking) *document.Table { return mediansOf(r, shown, true) }

// ownMetrics is the same of the workload's own metrics.
func ownMetrics(r *ranking, shown []*ranking) *document.Table { return mediansOf(r, shown, false) }

func mediansOf(r *ranking, shown []*ranking, ofEvents bool) *document.Table {
	out := &document.Table{Columns: document.Columns("environment"), Parts: true}
	for _, name := range words.Rows(lists.Map(r.cells(), func(c *analyze.Cell) string { return c.Env })) {
		out.Row(name)
	}
	for i := range r.work.Tables {
		t := &r.work.Tables[i]
		if (t.Metric.From != "") != ofEvents || t.Metric.Kind == record.Detail || len(medians(t)) == 0 {
			continue
		}
		// What has a table of its own, with intervals, is not repeated.
		if slices.ContainsFunc(shown, func(o *ranking) bool { return o.table == t }) {
			continue
		}
		if c, _, agree := t.Checked(); c != nil && agree {
			continue // a line says it
		}
		u := words.UnitFor(t.Metric.Unit, medians(t))
		title := strings.ReplaceAll(words.Clean(t.Metric.Title), " ", "\n") + "\n" + u.Name
		if !ofEvents {
			title += arrow(t.Metric.Better)
		}
		most := words.Full
		if !ofEvents && whole(medians(t), u.By) {
			most = 0 // a count
		}
		var values []string
		for _, e := range r.order {
			c := t.Cell(e)
			if c.Median == nil {
				values = append(values, "n/a")
				continue
			}
			values = append(values, words.NumberOf(sample.Estimate{Value: c.Median.Value}, u.By, most).Value)
		}
		out.Column(document.Column{Title: title, Right: true, Points: true}, document.Cells(values...))
	}
	return out
}

func whole(values []float64, by float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v/by != math.Trunc(v/by) })
}

// whyMissing groups the reasons of missing phases.
func whyMissing(r *ranking) (envs analyze.Grouped[string, string]) {
	for _, e := range r.order {
		for i := range r.work.Tables {
			t := &r.work.Tables[i]
			if t.Metric.From == "" || len(medians(t)) == 0 {
				continue
			}
			if c := t.Cell(e); c.Median == nil && !slices.Contains(envs.Of(c.Missing), e) {
				envs.Add(c.Missing, e)
			}
		}
	}
	return envs
}
