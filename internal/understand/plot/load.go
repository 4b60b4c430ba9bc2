package plot

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// loadPicture shows the quantiles of the time to ready of each environment, and the
// rates that it stood.
func loadPicture(d *view.Data, o Options) (*picture, error) {
	w, err := pickWork(d, o, func(w *view.Work) bool { return len(w.Load) > 0 }, "load")
	if err != nil {
		return nil, err
	}
	var sp span
	var names []string
	for _, c := range w.Load {
		for _, q := range c.Latency {
			sp.add(q.Value)
			names = analyze.Also(names, q.Name)
		}
	}
	if len(sp.all) == 0 {
		return nil, noData("workload %s has no latencies", w.ID)
	}
	c := &rowChart{axis: sp.axis("ns"), rowH: 22}
	c.label = "time from the intended start to ready, " + c.axis.unit + " (lower is better)"
	c.cols = []column{{head: "rate, containers/s", optional: true}, {head: "in flight", right: true, optional: true}, {head: "n", right: true}}
	p := &picture{
		title: "Load: " + w.Label(),
		sub:   []string{"Quantiles over all arrivals of all trials; workload " + words.Clean(w.ID)},
		notes: []string{"What failed or was refused counts as later than all others. Latency counts from the intended start."},
	}
	for i, n := range names {
		p.legend = append(p.legend, shapeKey(words.Clean(n), look{ink: muted, shape: i}))
	}
	envLooks := looks(d)
	for i := range w.Load {
		cell := &w.Load[i]
		e := slices.IndexFunc(d.Envs, func(x view.Env) bool { return x.ID == cell.Env })
		if e < 0 {
			continue
		}
		r := loadRow(d, c, cell, names, e, envLooks[e])
		c.rows = append(c.rows, r)
	}
	return p.table(c, o), nil
}

func loadRow(d *view.Data, c *rowChart, cell *load.Cell, names []string, e int, l look) chartRow {
	r := chartRow{name: d.EnvLabel(e), look: look{ink: l.ink, shape: 0}}
	r.mark = mark{class: "cell", data: [][2]string{{"env", words.Clean(cell.Env)}}}
	if len(cell.Latency) == 0 {
		r.missing = "n/a: too few arrivals were ready"
		if len(cell.Classes) > 0 {
			r.missing += ": " + words.Clean(cell.Classes[0].Text)
		}
		r.mark.title = r.name + ": " + r.missing
		return r
	}
	n := fmt.Sprint(cell.Arrivals)
	if k := cell.Failed + cell.Refused; k > 0 {
		n += fmt.Sprintf(" (%d failed)", k)
	}
	r.cells = []string{rate(cell), fmt.Sprint(cell.MaxInFlight), n}
	var latencies []string
	for _, q := range cell.Latency {
		latencies = append(latencies, q.Name+" "+amount(q.Value, c.axis.by)+" "+c.axis.unit)
		r.mark.data = append(r.mark.data, [2]string{"value", fmt.Sprint(q.Value)})
	}
	r.mark.data = r.mark.data[:2] // the first quantile stands for the row
	r.mark.title = r.name + ": " + words.Clean(strings.Join(latencies, ", ")) + "; " + r.cells[0] + ", n " + n
	r.draw = func(s surface, y float64) {
		first, last := cell.Latency[0].Value, cell.Latency[len(cell.Latency)-1].Value
		line(s, c.axis.at(first), y, c.axis.at(last), y, stroke{ink: l.thin(0.5), width: 1.2})
		for _, q := range cell.Latency {
			glyph(s, point{c.axis.at(q.Value), y}, 3, slices.Index(names, q.Name), l.ink, stroke{ink: paper, width: 0.6})
		}
	}
	return r
}

// rate says what was offered and what was achieved.
func rate(c *load.Cell) string {
	switch {
	case c.Search && c.Holds > 0 && c.Fails > 0:
		return fmt.Sprintf("holds %.3g, fails %.3g", c.Holds, c.Fails)
	case c.Search && c.Holds > 0:
		return fmt.Sprintf("holds %.3g", c.Holds)
	case c.Search:
		return "none held"
	}
	return fmt.Sprintf("%.3g of %.3g", c.Achieved, c.Offered)
}
