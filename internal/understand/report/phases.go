package report

import (
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// maxName bounds the name of an environment in a table, in characters.
const maxName = 32

// nameOf is an environment's name as a table shows it. A long one loses its
// middle: names of one engine differ at their ends.
func nameOf(env string) string { return cutMiddle(clean(env), maxName) }

// phases is the table of the medians of all phases that any environment has,
// in the order of the ranking. It may be wider than the page: see columns.
func phases(r *ranking, shown []*ranking) *grid { return mediansOf(r, shown, true) }

// ownMetrics is the same of the workload's own metrics.
func ownMetrics(r *ranking, shown []*ranking) *grid { return mediansOf(r, shown, false) }

func mediansOf(r *ranking, shown []*ranking, ofEvents bool) *grid {
	g := &grid{cols: []col{{title: "environment"}}}
	for _, c := range r.cells() {
		g.rows = append(g.rows, row{cells: []string{nameOf(c.Env)}})
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
		s := scaleFor(t.Metric.Unit, medians(t))
		title := strings.ReplaceAll(clean(t.Metric.Title), " ", "\n") + "\n" + s.unit
		if !ofEvents && t.Metric.Better == record.HigherIsBetter {
			title += " ↑"
		}
		g.cols = append(g.cols, col{title: title, right: true})
		most := 6
		if !ofEvents && whole(medians(t), s.by) {
			most = 0 // a count
		}
		var values []string
		for _, e := range r.order {
			c := t.Cell(e)
			if c.Median == nil {
				values = append(values, "n/a")
				continue
			}
			values = append(values, numberOf(sample.Estimate{Value: c.Median.Value}, s.by, most).value)
		}
		for k, v := range align(values) {
			g.rows[k].cells = append(g.rows[k].cells, v)
		}
	}
	return g
}

func whole(values []float64, by float64) bool {
	for _, v := range values {
		if v/by != math.Trunc(v/by) {
			return false
		}
	}
	return true
}

// columns cuts a grid into as many as are needed for each to fit, all with
// the first column, which takes a third of the page at most.
func (g *grid) columns(limit int) []*grid {
	for i := range g.rows {
		g.rows[i].cells[0] = cut(g.rows[i].cells[0], limit/3)
	}
	w := g.widths()
	var out []*grid
	for from := 1; from < len(g.cols); {
		sum, to := w[0], from
		for to < len(g.cols) && (to == from || sum+gap+w[to] <= limit) {
			sum += gap + w[to]
			to++
		}
		part := &grid{cols: append([]col{g.cols[0]}, g.cols[from:to]...)}
		for _, r := range g.rows {
			line := row{cells: []string{r.cells[0]}, style: r.style}
			if r.note != "" { // it stands for all columns
				line.note, line.noteAt = r.note, r.noteAt
			} else {
				line.cells = append(line.cells, r.cells[from:to]...)
			}
			part.rows = append(part.rows, line)
		}
		out = append(out, part)
		from = to
	}
	return out
}

// whyMissing groups the reasons of missing phases.
func whyMissing(r *ranking) (reasons []string, envs map[string][]string) {
	envs = map[string][]string{}
	for _, e := range r.order {
		seen := map[string]bool{}
		for i := range r.work.Tables {
			t := &r.work.Tables[i]
			if t.Metric.From == "" || len(medians(t)) == 0 {
				continue
			}
			if c := t.Cell(e); c.Median == nil && !seen[c.Missing] {
				seen[c.Missing] = true
				if envs[c.Missing] == nil {
					reasons = append(reasons, c.Missing)
				}
				envs[c.Missing] = append(envs[c.Missing], e)
			}
		}
	}
	return reasons, envs
}
