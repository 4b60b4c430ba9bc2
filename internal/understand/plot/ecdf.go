package plot

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// ecdf draws cumulative distribution functions.
func ecdf(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	var sp span
	var have []int
	var lacking reasons
	p := &picture{
		title: "Cumulative distribution of " + lower(metricName(t.Metric)) + ": " + w.Label(),
		sub:   []string{what(w, t.Metric)},
		notes: []string{"At each value: the share of the trials that have at most so much."},
	}
	for _, e := range rowsOf(w, t) {
		x := view.At(t.Dist, e)
		if len(x.Values)+len(x.Quantiles) == 0 {
			lacking.add(d.EnvLabel(e), view.At(t.Missing, e))
			continue
		}
		have = append(have, e)
		sp.add(x.Values...)
		sp.add(x.Quantiles...)
	}
	if len(have) == 0 {
		return nil, noData("workload %s has no values of %s", w.ID, t.Metric.ID)
	}
	x := sp.axis(t.Metric.Unit)
	x.in(words.UnitFor(t.Metric.Unit, view.Known(t.Median)))
	if x.log {
		p.notes[0] += " The axis is logarithmic."
	}
	p.notes = append(p.notes, lacking.lines(8)...)
	envLooks := looks(d)
	var list []*panel
	groups := byGroup(d, envLooks, have)
	for _, g := range groups {
		strokes := lines(envLooks, g.envs)
		one := &panel{title: capital(g.title), x: x, y: axis{lo: 0, hi: 1, unit: "%", by: 0.01}, xLabel: axisLabel(t, x), yLabel: "trials, %"}
		for _, e := range g.envs {
			one.legend = append(one.legend, lineKey(fmt.Sprintf("%s (n %d)", d.EnvLabel(e), view.At(t.N, e)), strokes[e]))
			p.desc = append(p.desc, lineMark(d, t, e).title)
		}
		one.draw = func(s surface, pn *panel) {
			if len(groups) > 1 { // the others, for comparison
				for _, e := range have {
					drawStep(s, pn, view.At(t.Dist, e), stroke{ink: grid, width: 1})
				}
			}
			for _, e := range g.envs {
				s.open(lineMark(d, t, e))
				drawStep(s, pn, view.At(t.Dist, e), strokes[e])
				s.close()
			}
		}
		list = append(list, one)
	}
	p.fill(list, o)
	if len(list) > 1 {
		p.notes = append(p.notes, "In each panel the others are grey.")
	}
	return p, nil
}

func lineMark(d *view.Data, t *view.Table, e int) mark {
	m := mark{class: "cell", title: d.EnvLabel(e), data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}}}
	if v := view.At(t.Median, e); v != nil {
		m.title += ": median " + words.Amount(*v, t.Metric.Unit) + fmt.Sprintf(", n %d", view.At(t.N, e))
		m.data = append(m.data, [2]string{"value", strconv.FormatFloat(*v, 'g', -1, 64)})
	}
	return m
}

// drawStep draws a step at each value, or a line through the quantiles.
func drawStep(s surface, p *panel, x view.Dist, l stroke) {
	var pts []point
	if len(x.Values) > 0 {
		sorted := slices.Sorted(slices.Values(x.Values))
		n := float64(len(sorted))
		for i, v := range sorted {
			pts = append(pts, p.at(v, float64(i)/n), p.at(v, float64(i+1)/n))
		}
	} else {
		for i, v := range x.Quantiles {
			pts = append(pts, p.at(v, view.At(view.Levels, i)))
		}
	}
	s.poly(pts, false, ink{}, l)
}
