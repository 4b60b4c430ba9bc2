package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// DrawFigure writes a published figure: what was published in grey, hollow and
// dashed, what was measured in the colours of the environments. An error that is
// ErrNoData says that the run has nothing to draw of it.
func DrawFigure(w io.Writer, format string, f *figure.Figure, d *view.Data, o Options) error {
	o, err := o.normal()
	if err != nil {
		return err
	}
	p, err := figurePicture(f, d, o)
	if err != nil {
		return fmt.Errorf("drawing the figure %s of %s: %w", f.Name, f.Source, err)
	}
	p.name = "figure-" + f.Name
	p.of(&d.Run)
	return p.write(w, format, o)
}

func figurePicture(f *figure.Figure, d *view.Data, o Options) (p *picture, err error) {
	if f.Missing != "" {
		return nil, noData("%s", words.Clean(f.Missing))
	}
	switch f.Kind {
	case figures.Series:
		o.Metric, o.Workload = f.Metric, ""
		for i := range d.Works {
			// A series that no environment of this run has is none of the others'.
			has := func(c view.Curve) bool { return c.Column == f.Metric && len(c.T) > 0 }
			if d.Works[i].Name == f.Workload && slices.ContainsFunc(d.Works[i].Curves, has) {
				o.Workload = d.Works[i].ID
				break
			}
		}
		if o.Workload == "" {
			return nil, noData("this run has no time series of %s of %s", words.Clean(f.Metric), words.Clean(f.Workload))
		}
		if p, err = curves(d, o); err != nil {
			return nil, err
		}
	case figures.Curves, figures.Ramps:
		p = linesPicture(f, d, o)
	default:
		p = rowsPicture(f, d, o)
	}
	p.title = capital(words.Clean(f.Title))
	where := words.Clean(f.Shows)
	if s, ok := published.SourceOf(f.Source); ok {
		where = fmt.Sprintf("%s %d, %s", strings.Join(s.Authors, ", "), s.Year, where)
	}
	p.sub = append([]string{where}, p.sub...)
	if f.Note != "" {
		p.notes = append(p.notes, words.Sentence(words.Clean(f.Note)))
	}
	return p, nil
}

// placeOf are the environments by their ids.
func placeOf(d *view.Data) map[string]int {
	out := map[string]int{}
	for e := range d.Envs {
		out[d.Envs[e].ID] = e
	}
	return out
}

// linesPicture draws curves and ramps, a panel for each of the figure's.
func linesPicture(f *figure.Figure, d *view.Data, o Options) *picture {
	p := &picture{notes: []string{"Solid lines and full marks were measured here: medians, with their 95 % intervals where there are such. Dashed lines and grey marks are published."}}
	env, envLooks := placeOf(d), looks(d)
	var list []*panel
	for i := range f.Panels {
		list = append(list, linesPanel(f, &f.Panels[i], d, env, envLooks))
		p.desc = append(p.desc, fmt.Sprintf("%s: %s", f.Panels[i].Title, words.Plural(len(f.Panels[i].Lines), "line")))
	}
	p.fill(p.most(list, "choose a figure with fewer"), o)
	return p
}

func linesPanel(f *figure.Figure, in *figure.Panel, d *view.Data, env map[string]int, envLooks []look) *panel {
	var x, y span
	for _, l := range in.Lines {
		for _, q := range l.Points {
			x.add(q.X)
			if q.Y != nil {
				y.add(q.Y.Value)
				y.addEach(q.Y.Lo, q.Y.Hi)
			}
		}
	}
	p := &panel{title: capital(words.Clean(in.Title)), x: x.axis(in.XUnit), y: y.axis(in.Unit), xLabel: words.Clean(in.Over)}
	if f.Kind == figures.Ramps {
		p.x = x.linear(in.XUnit)
		p.x.whole = f.Part != figures.Course
	}
	if p.y.unit != "" {
		p.title += ", " + p.y.unit
	}
	strokes, beside := make([]trace, len(in.Lines)), map[string]int{}
	for i, l := range in.Lines {
		t := trace{look{ink: muted}, stroke{ink: muted, width: 1, dash: []float64{4, 2}}, 2}
		if e, ok := env[l.Env]; ok && l.Published {
			n := beside[l.Env]
			beside[l.Env]++
			t.line.ink, t.line.dash = envLooks[e].thin(0.7), dashes[1+n%(len(dashes)-1)]
			t.shape = 3 - n%3
		} else if ok {
			t = trace{envLooks[e], stroke{ink: envLooks[e].ink, width: 1.4}, 2.2}
		}
		name := words.Clean(l.Label)
		if e, ok := env[l.Env]; ok && !l.Published {
			name = d.EnvLabel(e)
		}
		if l.Published {
			name += " (published)"
		}
		p.legend = append(p.legend, lineKey(name, t.line))
		strokes[i] = t
	}
	if f.Kind == figures.Curves {
		for _, q := range in.Lines[0].Points {
			p.places = append(p.places, place{q.X, words.Clean(q.Level)})
		}
	}
	p.draw = func(s surface, p *panel) {
		for i, l := range in.Lines {
			pts := lists.Map(l.Points, func(q figure.Point) tracePoint { return pointAt(p, q) })
			s.open(mark{class: class(l.Published), title: words.Clean(l.Label), data: [][2]string{{"env", words.Clean(l.Env)}}})
			strokes[i].draw(s, pts)
			s.close()
		}
	}
	return p
}

func class(theirs bool) string {
	if theirs {
		return "published"
	}
	return "curve"
}

func pointAt(p *panel, q figure.Point) tracePoint {
	if q.Y == nil {
		return tracePoint{gone: true}
	}
	out := tracePoint{at: p.at(q.X, q.Y.Value)}
	if q.Y.Lo != nil && q.Y.Hi != nil {
		out.lo, out.hi = p.y.at(*q.Y.Lo), p.y.at(*q.Y.Hi)
	}
	return out
}

// rowsPicture draws bars and boxes, a chart of rows for each panel.
func rowsPicture(f *figure.Figure, d *view.Data, o Options) *picture {
	p := &picture{notes: []string{"Full marks were measured here: medians with their 95 % intervals. Grey marks are published, with their intervals where the paper has such; they were measured on other machines, so that ratios and directions compare."}}
	if f.Kind == figures.Boxes {
		p.notes = []string{boxesNote}
		if slices.ContainsFunc(f.Panels, func(in figure.Panel) bool { return slices.ContainsFunc(in.Boxes, isPublished) }) {
			p.notes = append(p.notes, "Grey boxes are of the study's own values, measured on other machines, so that ratios and directions compare.")
		}
	}
	env, envLooks := placeOf(d), looks(d)
	var charts []*rowChart
	for i := range f.Panels {
		in := &f.Panels[i]
		c := &rowChart{rowH: 18}
		if f.Kind == figures.Boxes {
			fillBoxes(c, in, d, env, envLooks)
		} else {
			fillBars(c, in, env, envLooks)
		}
		c.layOut(o.Width - 2*margin)
		charts = append(charts, c)
		for _, r := range c.rows {
			p.desc = append(p.desc, r.mark.title)
		}
	}
	p.stack(lists.Map(f.Panels, func(in figure.Panel) string { return in.Title }), charts)
	return p
}

// stack puts charts of rows below each other, each under its title.
func (p *picture) stack(titles []string, charts []*rowChart) {
	for _, c := range charts {
		p.height += panelTitle + c.height()
	}
	p.body = func(s surface, b box) {
		y := b.y
		for i, c := range charts {
			s.text(point{b.x, y + 9.5}, boldFace.fitEnd(words.Clean(titles[i]), b.w), boldFace, left, false, black)
			y += panelTitle
			c.draw(s, box{b.x, y, b.w, c.height()})
			y += c.height()
		}
	}
}

func fillBars(c *rowChart, in *figure.Panel, env map[string]int, envLooks []look) {
	var sp span
	for _, b := range in.Bars {
		for _, e := range []*sample.Estimate{&b.Theirs, b.Here} {
			if e != nil {
				sp.add(e.Value)
				sp.addEach(e.Lo, e.Hi)
			}
		}
	}
	if sp.lo < 0 || in.Unit == "%" {
		sp.add(0)
	}
	c.axis = sp.axis(in.Unit)
	c.label = words.Clean(in.Unit)
	if c.axis.log {
		c.label += ", logarithmic"
	}
	c.cols = []column{{head: "published", right: true}, {head: "here", right: true}, {head: "n", right: true}}
	for _, b := range in.Bars {
		r := chartRow{name: words.Clean(b.Label)}
		published := words.Short(b.Theirs.Value)
		here, n := "n/a", ""
		if b.Here != nil {
			here, n = words.NumberOf(*b.Here, 1, 4).Value, fmt.Sprint(b.N)
		}
		r.cells = []string{published, here, n}
		r.mark = mark{class: "cell", title: fmt.Sprintf("%s: published %s %s, here %s", r.name, published, words.Clean(in.Unit), here),
			data: [][2]string{{"env", words.Clean(b.Env)}}}
		if b.Here == nil {
			r.mark.title += " (" + words.Clean(b.Missing) + ")"
		}
		l := look{ink: black}
		if e, ok := env[b.Env]; ok {
			l = envLooks[e]
		}
		r.draw = func(s surface, y float64) {
			bar(s, c, b.Theirs, y-3.5, look{ink: muted, shape: 3})
			if b.Here != nil {
				bar(s, c, *b.Here, y+3.5, l)
			}
		}
		c.rows = append(c.rows, r)
	}
}

// bar draws a value with its interval: from 0 on where the axis has it, else as a
// mark, since the length of a bar on a logarithmic axis says nothing.
func bar(s surface, c *rowChart, e sample.Estimate, y float64, l look) {
	x := c.axis.at(e.Value)
	if !c.axis.log && c.axis.lo <= 0 && c.axis.hi >= 0 {
		zero := c.axis.at(0)
		rect(s, box{min(x, zero), y - 2, max(x, zero) - min(x, zero), 4}, l.thin(0.45))
	}
	if e.Lo != nil && e.Hi != nil && (!c.axis.log || *e.Lo > 0) {
		line(s, c.axis.at(*e.Lo), y, c.axis.at(*e.Hi), y, stroke{ink: l.ink, width: 1})
	}
	glyph(s, point{x, y}, 2.3, l.shape, l.ink, stroke{})
}

func fillBoxes(c *rowChart, in *figure.Panel, d *view.Data, env map[string]int, envLooks []look) {
	var sp span
	var medians []float64
	for _, b := range in.Boxes {
		sp.add(b.Values...)
		medians = append(medians, b.Values...)
		if b.Box != nil {
			sp.add(b.Box.Low, b.Box.High)
			sp.add(b.Box.Out...)
			medians = append(medians, b.Box.Median)
		}
	}
	c.axis = sp.axis(in.Unit)
	c.axis.in(words.UnitFor(in.Unit, medians))
	c.label = c.axis.unit
	if c.axis.log {
		c.label += ", logarithmic"
	}
	c.cols = []column{{head: "median, " + cmp.Or(c.axis.unit, "value"), right: true}, {head: "n", right: true}}
	for _, b := range in.Boxes {
		e, ok := env[b.Env]
		r := chartRow{name: words.Clean(b.Label)}
		switch {
		case b.Published:
			r.name, r.look = r.name+" (published)", look{ink: muted, shape: 3}
		case ok:
			r.name, r.look = d.EnvLabel(e), envLooks[e]
		}
		if b.Box == nil && len(b.Values) == 0 {
			r.missing = "n/a: " + words.Clean(b.Missing)
			r.mark = mark{class: "cell", title: r.name + ": " + r.missing, data: [][2]string{{"env", words.Clean(b.Env)}}}
			c.rows = append(c.rows, r)
			continue
		}
		m := stats.Median(b.Values)
		if b.Box != nil {
			m = b.Box.Median
		}
		r.cells = []string{amount(m, c.axis.by), fmt.Sprint(b.N)}
		r.mark = mark{class: "cell", title: fmt.Sprintf("%s: median %s %s, n %d", r.name, r.cells[0], c.axis.unit, b.N), data: [][2]string{{"env", words.Clean(b.Env)}}}
		l := r.look
		if !ok && !b.Published {
			l = look{ink: black}
		}
		if b.Published {
			r.mark.class = "published"
		}
		r.draw = func(s surface, y float64) { boxRow(s, c, &b, l, y) }
		c.rows = append(c.rows, r)
	}
}

func isPublished(b figure.Box) bool { return b.Published }

// boxRow draws a box with whiskers, or a strip of points.
func boxRow(s surface, c *rowChart, b *figure.Box, l look, y float64) {
	const half = 4.5
	thin := stroke{ink: l.ink, width: 0.9}
	for i, v := range b.Values {
		s.dot(point{c.axis.at(v), y + jitter(i)*3}, 1.7, l.thin(0.7), stroke{})
	}
	x := b.Box
	if x == nil {
		return
	}
	q1, q3 := c.axis.at(x.Q1), c.axis.at(x.Q3)
	line(s, c.axis.at(x.Low), y, q1, y, thin)
	line(s, q3, y, c.axis.at(x.High), y, thin)
	for _, v := range []float64{x.Low, x.High} {
		line(s, c.axis.at(v), y-2.5, c.axis.at(v), y+2.5, thin)
	}
	s.poly([]point{{q1, y - half}, {q3, y - half}, {q3, y + half}, {q1, y + half}}, true, l.thin(0.18), thin)
	line(s, c.axis.at(x.Median), y-half, c.axis.at(x.Median), y+half, stroke{ink: l.ink, width: 2})
	for _, v := range x.Out {
		s.dot(point{c.axis.at(v), y}, 1.4, l.thin(0.7), stroke{})
	}
}
