package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// curves draws time series with the band between their quartiles.
func curves(d *view.Data, o Options) (*picture, error) {
	w, err := pickWork(d, o, func(w *view.Work) bool { return len(w.Curves) > 0 }, "time series")
	if err != nil {
		return nil, err
	}
	type id struct{ column, part string }
	var of analyze.Grouped[id, view.Curve]
	var columns []string
	for _, c := range w.Curves {
		columns = analyze.Also(columns, c.Column)
		if o.Metric != "" && c.Column != o.Metric || len(c.T) == 0 {
			continue
		}
		of.Add(id{c.Column, c.Part}, c)
	}
	if of.Len() == 0 {
		if o.Metric != "" && !slices.Contains(columns, o.Metric) {
			return nil, fmt.Errorf("no time series %q: there are %s", o.Metric, strings.Join(columns, ", "))
		}
		return nil, noData("workload %s has no time series", w.ID)
	}
	p := &picture{
		title: "Time series: " + w.Label(),
		sub:   []string{"workload " + words.Clean(w.ID)},
		notes: []string{"Lines are medians over the trials at each time after the request, bands reach from quartile to quartile."},
	}
	envLooks := looks(d)
	var list []*panel
	seen := map[int]int{}
	for _, all := range of.All() {
		var envs []int
		for _, c := range all {
			envs = append(envs, c.Env)
			seen[c.Env] = max(seen[c.Env], c.Trials)
		}
		for _, g := range byGroup(d, envLooks, envs) {
			list = append(list, curvePanel(d, all, g, envLooks))
		}
		p.desc = append(p.desc, list[len(list)-1].title+": "+words.Plural(len(all), "environment"))
	}
	list = p.most(list, "choose a series as the metric ("+strings.Join(columns, ", ")+")")
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
				names = append(names, d.EnvLabel(e))
			}
		}
	}
	return strings.Join(names, ", ")
}

// curvePanel draws the curves of a group; its axes span all of them.
func curvePanel(d *view.Data, cs []view.Curve, g lineGroup, envLooks []look) *panel {
	var x, y span
	x.add(0)
	for _, c := range cs {
		x.add(c.T...)
		y.add(c.V...)
		y.add(c.Lo...)
		y.add(c.Hi...)
	}
	strokes := lines(envLooks, g.envs)
	first := cs[0]
	title := cmp.Or(words.Clean(first.Title), words.Clean(first.Column))
	if part := words.Clean(first.Part); part != "" && part != "host" && !strings.Contains(strings.ToLower(title), part) {
		title += ", " + part
	}
	if g.title != "" {
		title += ": " + g.title
	}
	p := &panel{title: capital(title), y: y.linear(first.Unit), xLabel: "seconds after the request"}
	p.x = axis{lo: x.lo, hi: x.hi, unit: "s", by: 1}
	if p.x.hi == p.x.lo {
		p.x.hi++
	}
	if p.y.unit != "" {
		p.title += ", " + p.y.unit
	}
	var mine []view.Curve
	for _, c := range cs {
		if slices.Contains(g.envs, c.Env) {
			mine = append(mine, c)
			p.legend = append(p.legend, lineKey(fmt.Sprintf("%s (n %d)", d.EnvLabel(c.Env), c.Trials), strokes[c.Env]))
		}
	}
	p.draw = func(s surface, p *panel) {
		for _, c := range mine {
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
		for _, c := range mine {
			var pts []point
			for i, t := range c.T {
				pts = append(pts, p.at(t, view.At(c.V, i)))
			}
			s.open(mark{class: "curve", title: d.EnvLabel(c.Env), data: [][2]string{{"env", words.Clean(d.Envs[c.Env].ID)}}})
			s.poly(pts, false, ink{}, strokes[c.Env])
			s.close()
		}
	}
	return p
}
