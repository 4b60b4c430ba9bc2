package plot

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/internal/report"
	"plimsoll/internal/view"
)

// maxLines is how many lines one panel may have; beyond it each engine gets a
// panel of its own.
const maxLines = 8

// ecdf draws cumulative distribution functions.
func ecdf(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	var sp span
	var have []int
	p := &picture{
		title: "Cumulative distribution of " + lower(metricName(t.Metric)) + ": " + workName(w),
		sub:   []string{what(w, t.Metric)},
		notes: []string{"At each value: the share of the trials that have at most so much."},
	}
	for _, e := range rowsOf(w, t) {
		x := at(t.Dist, e)
		if len(x.Values)+len(x.Quantiles) == 0 {
			p.notes = append(p.notes, envName(d, e)+" "+missing(t, e))
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
	x.unit, x.by = report.Scale(t.Metric.Unit, known(t.Median))
	if x.log {
		p.notes[0] += " The axis is logarithmic."
	}
	envLooks := looks(d)
	var list []*panel
	for _, g := range byGroup(d, envLooks, have, maxLines) {
		list = append(list, &panel{
			title: g.title, x: x, y: axis{lo: 0, hi: 1, unit: "%", by: 0.01}, xLabel: axisLabel(t, x), yLabel: "trials, %",
			draw: func(s surface, pn *panel) {
				for _, e := range g.behind {
					drawStep(s, pn, at(t.Dist, e), stroke{ink: grid, width: 1})
				}
				for _, e := range g.envs {
					s.open(lineMark(d, t, e))
					drawStep(s, pn, at(t.Dist, e), lineOf(envLooks[e]))
					s.close()
				}
			},
		})
	}
	for _, e := range have {
		p.legend = append(p.legend, lineKey(fmt.Sprintf("%s (n %d)", envName(d, e), at(t.N, e)), lineOf(envLooks[e])))
		p.desc = append(p.desc, lineMark(d, t, e).title)
	}
	p.fill(list, o)
	if len(list) > 1 {
		p.notes = append(p.notes, "One panel for each engine; the others are grey.")
	}
	return p, nil
}

func lineOf(l look) stroke { return stroke{ink: l.ink, width: 1.4, dash: l.dash} }

func lineMark(d *view.Data, t *view.Table, e int) mark {
	m := mark{class: "cell", title: envName(d, e), data: [][2]string{{"env", report.Clean(d.Envs[e].ID)}}}
	if v := at(t.Median, e); v != nil {
		m.title += ": median " + report.Amount(*v, t.Metric.Unit) + fmt.Sprintf(", n %d", at(t.N, e))
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
			pts = append(pts, p.at(v, at(view.Levels, i)))
		}
	}
	if len(pts) > 0 { // to the edges, where it is 0 and 1
		pts = append([]point{{p.x.from, p.y.from}, {pts[0].x, p.y.from}}, pts...)
		pts = append(pts, point{p.x.to, pts[len(pts)-1].y})
	}
	s.poly(pts, false, ink{}, l)
}

// lineGroup are the lines of one panel.
type lineGroup struct {
	title        string
	envs, behind []int
}

// byGroup shares environments out to panels: one where they are few, else one
// for each engine, with the baselines in all.
func byGroup(d *view.Data, l []look, envs []int, most int) []lineGroup {
	if len(envs) <= most {
		return []lineGroup{{envs: envs}}
	}
	var out []lineGroup
	place := map[int]int{}
	for _, e := range envs {
		g := l[e].group
		if g < 0 {
			continue
		}
		if _, ok := place[g]; !ok {
			place[g] = len(out)
			out = append(out, lineGroup{title: report.Clean(d.Envs[e].Group)})
		}
	}
	for i := range out {
		for _, e := range envs {
			if g := l[e].group; g < 0 || place[g] == i {
				out[i].envs = append(out[i].envs, e)
			} else {
				out[i].behind = append(out[i].behind, e)
			}
		}
	}
	if len(out) == 0 { // baselines only
		return []lineGroup{{envs: envs}}
	}
	return out
}

// fill puts panels into the picture, two beside each other where there are
// several and it is wide enough.
func (p *picture) fill(list []*panel, o Options) {
	cols, h := 1, 230.0
	if len(list) > 1 && o.Width >= 500 {
		cols, h = 2, 180
	}
	p.height = h * float64((len(list)+cols-1)/cols)
	p.body = panels(list, cols)
}
