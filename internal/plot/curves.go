package plot

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/report"
	"plimsoll/internal/view"
)

// maxPanels is how many panels one picture has at most.
const maxPanels = 8

// curves draws time series with the band between their quartiles.
func curves(d *view.Data, o Options) (*picture, error) {
	w, err := pickWork(d, o, func(w *view.Work) bool { return len(w.Curves) > 0 }, "time series")
	if err != nil {
		return nil, err
	}
	type id struct{ column, part string }
	var order []id
	of := map[id][]view.Curve{}
	var columns []string
	for _, c := range w.Curves {
		if !slices.Contains(columns, c.Column) {
			columns = append(columns, c.Column)
		}
		if o.Metric != "" && c.Column != o.Metric || len(c.T) == 0 {
			continue
		}
		k := id{c.Column, c.Part}
		if of[k] == nil {
			order = append(order, k)
		}
		of[k] = append(of[k], c)
	}
	if len(order) == 0 {
		if o.Metric != "" && !slices.Contains(columns, o.Metric) {
			return nil, fmt.Errorf("no time series %q: there are %s", o.Metric, strings.Join(columns, ", "))
		}
		return nil, noData("workload %s has no time series", w.ID)
	}
	p := &picture{
		title: "Time series: " + workName(w),
		sub:   []string{"workload " + report.Clean(w.ID)},
		notes: []string{"Lines are medians over the trials at each time after the request, bands reach from quartile to quartile."},
	}
	if n := len(order) - maxPanels; n > 0 {
		p.notes = append(p.notes, fmt.Sprintf("%d more series are not drawn: choose one as the metric (%s).", n, strings.Join(columns, ", ")))
		order = order[:maxPanels]
	}
	envLooks := looks(d)
	var list []*panel
	seen := map[int]int{}
	for _, k := range order {
		list = append(list, curvePanel(of[k], envLooks))
		for _, c := range of[k] {
			seen[c.Env] = max(seen[c.Env], c.Trials)
		}
		p.desc = append(p.desc, list[len(list)-1].title+": "+count(len(of[k]), "environment"))
	}
	for e := range d.Envs {
		if n, ok := seen[e]; ok {
			p.legend = append(p.legend, lineKey(fmt.Sprintf("%s (n %d)", envName(d, e), n), lineOf(envLooks[e])))
		}
	}
	if rest := notSeen(d, w, seen); rest != "" {
		p.notes = append(p.notes, "n/a: no time series of "+rest+".")
	}
	p.fill(list, o)
	return p, nil
}

// notSeen names the environments that ran the workload and are not drawn.
func notSeen(d *view.Data, w *view.Work, seen map[int]int) string {
	var names []string
	for e, env := range d.Envs {
		if _, ok := seen[e]; ok {
			continue
		}
		for _, c := range w.Counts {
			if c.Env == env.ID && c.Trials > 0 {
				names = append(names, envName(d, e))
			}
		}
	}
	return strings.Join(names, ", ")
}

func curvePanel(cs []view.Curve, envLooks []look) *panel {
	var x, y span
	x.add(0)
	for _, c := range cs {
		x.add(c.T...)
		y.add(c.V...)
		y.add(c.Lo...)
		y.add(c.Hi...)
	}
	first := cs[0]
	title := report.Clean(first.Title)
	if title == "" {
		title = report.Clean(first.Column)
	}
	if part := report.Clean(first.Part); part != "" && !strings.Contains(strings.ToLower(title), part) {
		title += ", " + part
	}
	p := &panel{title: capital(title), y: y.linear(first.Unit), xLabel: "seconds after the request"}
	p.x = axis{lo: x.lo, hi: x.hi, unit: "s", by: 1}
	if p.x.hi == p.x.lo {
		p.x.hi++
	}
	p.yLabel = unitOr(p.y.unit)
	p.draw = func(s surface, p *panel) {
		for _, c := range cs {
			if len(c.Lo) == len(c.T) && len(c.Hi) == len(c.T) {
				var band []point
				for i, t := range c.T {
					band = append(band, p.at(t, c.Hi[i]))
				}
				for i := len(c.T) - 1; i >= 0; i-- {
					band = append(band, p.at(c.T[i], c.Lo[i]))
				}
				s.poly(band, true, envLooks[c.Env].thin(0.15), stroke{})
			}
		}
		for _, c := range cs {
			var pts []point
			for i, t := range c.T {
				pts = append(pts, p.at(t, at(c.V, i)))
			}
			s.poly(pts, false, ink{}, lineOf(envLooks[c.Env]))
		}
	}
	return p
}
