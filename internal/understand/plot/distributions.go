package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// distributions has each trial as a point, and a box.
func distributions(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	var sp span
	for _, x := range t.Dist {
		sp.add(x.Values...)
		if len(x.Values) == 0 {
			sp.add(x.Quantiles...)
		}
	}
	if len(sp.all) == 0 {
		return nil, noData("workload %s has no values of %s", w.ID, t.Metric.ID)
	}
	c := &rowChart{axis: sp.axis(t.Metric.Unit), rowH: 26}
	c.axis.in(words.UnitFor(t.Metric.Unit, view.Known(t.Median)))
	c.label = axisLabel(t, c.axis)
	c.cols = []column{{head: "median, " + cmp.Or(c.axis.unit, "value"), right: true}, {head: "n", right: true}}
	p := &picture{
		title: "Distribution of " + lower(metricName(t.Metric)) + ": " + w.Label(),
		sub:   []string{what(w, t.Metric)},
	}
	points, boxes := false, false
	envLooks := looks(d)
	for _, e := range rowsOf(w, t) {
		r := chartRow{name: d.EnvLabel(e), look: envLooks[e]}
		x := view.At(t.Dist, e)
		if m := view.At(t.Median, e); m == nil || len(x.Values)+len(x.Quantiles) == 0 {
			r.missing = missing(t, e)
		} else {
			v := words.NumberOf(sample.Estimate{Value: *m, Lo: view.At(t.Lo, e), Hi: view.At(t.Hi, e)}, c.axis.by, words.Full).Value
			r.cells = []string{v, nOf(d, w, t, e)}
			r.draw = func(s surface, y float64) { drawDist(s, c, x, *m, envLooks[e], y) }
			points, boxes = points || len(x.Values) > 0, boxes || len(x.Values) == 0
		}
		r.mark = distMark(d, t, e, r, x, c.axis)
		c.rows = append(c.rows, r)
	}
	s := "Boxes reach from quartile to quartile, whiskers from 2.5 to 97.5 %, the line is the median."
	switch {
	case points && !boxes:
		s = "Each point is a trial, moved up or down so that all are seen. " + s
	case points:
		s = "Where trials are few each is a point, moved up or down so that all are seen. " + s
	}
	p.notes = append(p.notes, s)
	return p.table(c, o), nil
}

func distMark(d *view.Data, t *view.Table, e int, r chartRow, x view.Dist, a axis) mark {
	m := mark{class: "cell", title: r.name + ": " + r.missing,
		data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}, {"metric", t.Metric.ID}}}
	if r.missing == "" {
		m.title = fmt.Sprintf("%s: median %s %s", r.name, r.cells[0], a.unit)
		if q1, q3, ok := quartiles(x); ok {
			m.title += fmt.Sprintf(", quartiles %s and %s", amount(q1, a.by), amount(q3, a.by))
		}
		m.title += fmt.Sprintf(", n %d", view.At(t.N, e))
		m.data = append(m.data, [2]string{"value", strconv.FormatFloat(*t.Median[e], 'g', -1, 64)})
	}
	return m
}

// level finds one of view.Levels in a distribution's quantiles.
func level(x view.Dist, q float64) (float64, bool) {
	i := slices.Index(view.Levels, q)
	if i < 0 || len(x.Quantiles) != len(view.Levels) {
		return 0, false
	}
	return x.Quantiles[i], true
}

func quartiles(x view.Dist) (lo, hi float64, ok bool) {
	lo, a := level(x, 0.25)
	hi, b := level(x, 0.75)
	return lo, hi, a && b
}

func drawDist(s surface, c *rowChart, x view.Dist, median float64, l look, y float64) {
	const half = 5.0
	if q1, q3, ok := quartiles(x); ok {
		lo, _ := level(x, 0.025)
		hi, _ := level(x, 0.975)
		thin := stroke{ink: l.ink, width: 0.9}
		a, b := c.axis.at(q1), c.axis.at(q3)
		line(s, c.axis.at(lo), y, a, y, thin)
		line(s, b, y, c.axis.at(hi), y, thin)
		for _, v := range []float64{lo, hi} {
			line(s, c.axis.at(v), y-3, c.axis.at(v), y+3, thin)
		}
		s.poly([]point{{a, y - half}, {b, y - half}, {b, y + half}, {a, y + half}}, true, l.thin(0.18), thin)
	}
	alpha := 0.55
	if len(x.Values) > 300 {
		alpha = 0.25
	}
	for i, v := range x.Values {
		s.dot(point{c.axis.at(v), y + jitter(i)*8}, 1.5, l.thin(alpha), stroke{})
	}
	m := c.axis.at(median)
	line(s, m, y-half-1.5, m, y+half+1.5, stroke{ink: l.ink, width: 2})
}

// jitter spreads the i-th point over -1 to 1: multiples of the golden ratio
// leave no gaps, whatever their number.
func jitter(i int) float64 {
	_, f := math.Modf(float64(i+1) * (math.Sqrt(5) - 1) / 2)
	return 2*f - 1
}

func lower(s string) string {
	r := []rune(s)
	if len(r) > 1 && r[1] >= 'A' && r[1] <= 'Z' { // an abbreviation
		return s
	}
	if len(r) > 0 && r[0] >= 'A' && r[0] <= 'Z' {
		r[0] += 'a' - 'A'
	}
	return string(r)
}
