package plot

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// ranking is a forest plot of medians with their intervals.
func ranking(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	var sp span
	sp.addEach(t.Median...)
	sp.addEach(t.Lo...)
	sp.addEach(t.Hi...)
	c := &rowChart{axis: sp.axis(t.Metric.Unit), guides: baselineGuides(d, t)}
	c.axis.in(words.UnitFor(t.Metric.Unit, view.Known(t.Median)))
	c.label = axisLabel(t, c.axis)
	c.cols = []column{
		{head: "median, " + cmp.Or(c.axis.unit, "value"), right: true},
		{head: "95 % interval", optional: true},
		{head: "n", right: true},
		{head: "group"},
	}
	p := &picture{
		title: metricName(t.Metric) + ": " + w.Label(),
		sub:   []string{what(w, t.Metric)},
	}
	envLooks := looks(d)
	for _, e := range rowsOf(w, t) {
		r := chartRow{name: d.EnvLabel(e), look: envLooks[e]}
		if m := view.At(t.Median, e); m == nil {
			r.missing = missing(t, e)
		} else {
			est := sample.Estimate{Value: *m, Lo: view.At(t.Lo, e), Hi: view.At(t.Hi, e)}
			n := words.NumberOf(est, c.axis.by, words.Full)
			r.cells = []string{n.Value, n.Interval, nOf(d, w, t, e), words.Letters(view.At(t.Group, e))}
			r.draw = forest(c, est, envLooks[e])
		}
		r.mark = cellMark(d, t, e, r, c.axis.unit)
		c.rows = append(c.rows, r)
	}
	p.notes = append(p.notes, "Points are medians, lines their 95 % intervals.")
	if t.Test != "" {
		p.notes[0] += fmt.Sprintf(" Environments that share a letter cannot be told apart (paired %s test within blocks, 5 %% after Holm's correction).", words.Clean(t.Test))
	}
	return p.table(c, o), nil
}

// table puts a chart of rows into the picture.
func (p *picture) table(c *rowChart, o Options) *picture {
	if c.axis.log {
		p.notes = append(p.notes, "The axis is logarithmic.")
	}
	for _, r := range c.rows {
		p.desc = append(p.desc, r.mark.title)
	}
	c.layOut(o.Width - 2*margin)
	p.height, p.body = c.height(), c.draw
	return p
}

// forest draws a median with its interval.
func forest(c *rowChart, e sample.Estimate, l look) func(surface, float64) {
	return func(s surface, y float64) {
		if e.Lo != nil && e.Hi != nil {
			lo, hi := c.axis.at(*e.Lo), c.axis.at(*e.Hi)
			bar := stroke{ink: l.ink, width: 1.4}
			line(s, lo, y, hi, y, bar)
			line(s, lo, y-3, lo, y+3, bar)
			line(s, hi, y-3, hi, y+3, bar)
		}
		glyph(s, point{c.axis.at(e.Value), y}, 3.2, l.shape, l.ink, stroke{ink: paper, width: 0.7})
	}
}

// baselineGuides are vertical lines at the medians of native, floor and host.
func baselineGuides(d *view.Data, t *view.Table) []guide {
	dash := map[string][]float64{"native": {4, 2}, "floor": {1.5, 1.5}, "host": {7, 2}}
	var out []guide
	for e, env := range d.Envs {
		m := view.At(t.Median, e)
		if env.Baseline == "" || m == nil {
			continue
		}
		out = append(out, guide{env.Baseline, *m, stroke{ink: muted, width: 0.8, dash: dash[env.Baseline]}})
	}
	return out
}

// nOf is the number of values, with the failures.
func nOf(d *view.Data, w *view.Work, t *view.Table, e int) string {
	n := strconv.Itoa(view.At(t.N, e))
	if k := failures(w, d.Envs[e].ID); k > 0 {
		n += fmt.Sprintf(" (%d failed)", k)
	}
	return n
}

// cellMark says what a row shows.
func cellMark(d *view.Data, t *view.Table, e int, r chartRow, unit string) mark {
	m := mark{class: "cell", data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}, {"metric", t.Metric.ID}}}
	if r.missing != "" {
		m.title = r.name + ": " + r.missing
		return m
	}
	v := *t.Median[e]
	m.data = append(m.data, [2]string{"value", strconv.FormatFloat(v, 'g', -1, 64)})
	m.title = strings.TrimSpace(fmt.Sprintf("%s: %s %s %s", r.name, view.At(r.cells, 0), unit, view.At(r.cells, 1))) + fmt.Sprintf(", n %d", view.At(t.N, e))
	return m
}

func axisLabel(t *view.Table, a axis) string {
	s := metricName(t.Metric)
	if a.unit != "" && !strings.EqualFold(a.unit, s) {
		s += ", " + a.unit
	}
	return s + " (" + words.Better(t.Metric) + ")"
}
