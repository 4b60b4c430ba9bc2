package figure

import (
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/papers"
)

// bars has a panel for each row of the table in which something of ours
// stands.
func bars(res *analyze.Result, f figures.Figure) ([]Panel, string) {
	var out []Panel
	ours := map[string]bool{}
	for _, c := range cells(res, f) {
		key := c.Row + ", " + c.Unit
		k := slices.IndexFunc(out, func(p Panel) bool { return p.Title == c.Row && p.Unit == c.Unit })
		if k < 0 {
			k = len(out)
			out = append(out, Panel{Title: c.Row, Unit: c.Unit})
		}
		b := Bar{Label: label(c), Theirs: theirs(c, 1), Here: c.Here, Env: c.Env, N: c.N, Missing: c.Missing}
		ours[key] = ours[key] || b.Here != nil
		out[k].Bars = append(out[k].Bars, b)
	}
	out = slices.DeleteFunc(out, func(p Panel) bool { return !ours[p.Title+", "+p.Unit] })
	if len(out) == 0 {
		return nil, "this run has nothing to compare with these values of " + f.Table
	}
	return out, ""
}

// boxes has a panel for each workload of the name, and a box for each
// environment that the study asks for, with theirs below where the raw values are
// public that the study's tables set beside it.
func boxes(res *analyze.Result, f figures.Figure) ([]Panel, string) {
	var out []Panel
	raw := lists.Map(res.Papers, func(p analyze.PaperTable) func(*analyze.PaperCell) []float64 { return papers.Raw(&p) })
	for i := range res.Workloads {
		w := &res.Workloads[i]
		t := w.Table(f.Metric)
		if w.Group() != f.Workload || !t.Measured() {
			continue
		}
		p := Panel{Title: w.ID, Unit: t.Metric.Unit}
		for k := range t.Cells {
			c := &t.Cells[k]
			if c.Missing == analyze.NotAsked {
				continue
			}
			p.Boxes = append(p.Boxes, boxOf(res, c))
			for k := range res.Papers {
				if paper := &res.Papers[k]; paper.Source == f.Source && c.Median != nil {
					p.Boxes = append(p.Boxes, theirBoxes(paper, raw[k], w.ID, c.Env, t.Metric)...)
				}
			}
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, "this run has no " + f.Metric + " of " + f.Workload
	}
	return out, ""
}

// theirBoxes are those of the raw values that a table sets beside a cell, in our
// unit.
func theirBoxes(paper *analyze.PaperTable, raw func(*analyze.PaperCell) []float64, work, env string, m record.Metric) []Box {
	var out []Box
	for i := range paper.Cells {
		c := &paper.Cells[i]
		by, ok := papers.Factor(m.Unit, c.Unit)
		if !ok || c.Env != env || c.Workload != work || c.Metric != m.ID {
			continue
		}
		values := lists.Map(raw(c), func(v float64) float64 { return v / by })
		if len(values) > 0 {
			b := Box{Label: label(c), Env: env, Published: true, N: len(values)}
			b.take(values)
			out = append(out, b)
		}
	}
	return out
}

// take makes a box of values, or where they are too few keeps each of them.
func (b *Box) take(values []float64) {
	if x, ok := stats.BoxOf(values); ok {
		b.Box = &x
		return
	}
	b.Values = stats.Sorted(values)
}

// boxOf takes the values where they were kept, else the quantiles: those have no
// values beyond the whiskers, which then go to 2.5 and 97.5 %.
func boxOf(res *analyze.Result, c *analyze.Cell) Box {
	b := Box{Label: c.Env, Env: c.Env, N: c.N, Missing: c.Missing}
	if c.Median == nil {
		return b
	}
	if values := slices.Concat(c.Values...); len(values) > 0 {
		b.take(values)
		return b
	}
	at := func(q float64) float64 {
		if i := slices.Index(res.Levels, q); i >= 0 && i < len(c.Quantiles) {
			return c.Quantiles[i]
		}
		return c.Median.Value
	}
	if c.N < stats.LeastBox || len(c.Quantiles) == 0 {
		b.Values = []float64{c.Median.Value}
		return b
	}
	b.Box = &stats.Box{Low: at(0.025), Q1: at(0.25), Median: at(0.5), Q3: at(0.75), High: at(0.975)}
	return b
}
