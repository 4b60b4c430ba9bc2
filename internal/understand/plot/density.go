package plot

import (
	"fmt"
	"strings"

	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// densityPicture shows what one container more costs: a panel for the start time, one
// for the stop, and one for each part of the memory.
func densityPicture(d *view.Data, o Options) (*picture, error) {
	w, err := pickWork(d, o, func(w *view.Work) bool { return len(w.Density) > 0 }, "density")
	if err != nil {
		return nil, err
	}
	envLooks := looks(d)
	env := map[string]int{}
	for e := range d.Envs {
		env[d.Envs[e].ID] = e
	}
	p := &picture{
		title: "Density: " + w.Label(),
		sub:   []string{"workload " + words.Clean(w.ID)},
		notes: []string{"Each point is one container more; of several ramps it is the median."},
	}
	kinds := []struct {
		title, unit string
		of          func(*density.Cell) *density.Points
	}{
		{"Start: request to ready", "ns", func(c *density.Cell) *density.Points { return c.Starts }},
		{"Stop: stop to removed", "ns", func(c *density.Cell) *density.Points { return c.Stops }},
	}
	for _, part := range density.MemoryParts {
		kinds = append(kinds, struct {
			title, unit string
			of          func(*density.Cell) *density.Points
		}{"Memory: " + part, "bytes", func(c *density.Cell) *density.Points {
			if q, ok := c.Memory[part]; ok {
				return &q
			}
			return nil
		}})
	}
	var list []*panel
	drawn := map[int]int{}
	for _, k := range kinds {
		if pn := densityPanel(w.Density, env, envLooks, k.title, k.unit, k.of, drawn); pn != nil {
			list = append(list, pn)
		}
	}
	if len(list) == 0 {
		return nil, noData("workload %s has no density curves", w.ID)
	}
	for i := range w.Density {
		c := &w.Density[i]
		e, ok := env[c.Env]
		if !ok {
			continue
		}
		if _, ok := drawn[e]; !ok {
			p.notes = append(p.notes, d.EnvLabel(e)+" n/a: no container came up")
			continue
		}
		p.legend = append(p.legend, shapeKey(reached(d, c, e), envLooks[e]))
		p.desc = append(p.desc, reached(d, c, e))
		for _, l := range c.Limits {
			p.notes = append(p.notes, d.EnvLabel(e)+" ended at "+fmt.Sprint(c.Reached)+": "+words.Clean(l.Text))
		}
	}
	if rest := notSeen(d, w, drawn); rest != "" {
		p.notes = append(p.notes, "n/a: no ramp of "+rest+".")
	}
	p.fill(list, o)
	return p, nil
}

// reached says how far an environment came.
func reached(d *view.Data, c *density.Cell, e int) string {
	s := fmt.Sprintf("%s (%d", d.EnvLabel(e), c.Reached)
	if c.Asked > 0 {
		s += fmt.Sprintf(" of %d", c.Asked)
	}
	return s + ", " + words.Plural(c.Ramps, "ramp") + ")"
}

func densityPanel(cells []density.Cell, env map[string]int, l []look, title, unit string,
	of func(*density.Cell) *density.Points, drawn map[int]int,
) *panel {
	var x, y span
	x.add(0)
	type curve struct {
		env int
		p   *density.Points
	}
	var list []curve
	for i := range cells {
		q := of(&cells[i])
		e, ok := env[cells[i].Env]
		if q == nil || len(q.N) == 0 || !ok {
			continue
		}
		x.add(q.N...)
		y.add(q.Y...)
		drawn[e] = len(q.N)
		list = append(list, curve{e, q})
	}
	if len(list) == 0 {
		return nil
	}
	p := &panel{title: title, x: axis{lo: 0, hi: max(x.hi*1.02, 1), by: 1}, y: y.axis(unit), xLabel: "containers already running"}
	if strings.HasPrefix(title, "Memory") {
		p.xLabel = "containers running"
	}
	if p.y.unit != "" {
		p.title += ", " + p.y.unit
	}
	p.draw = func(s surface, p *panel) {
		for _, c := range list {
			var pts []tracePoint
			for i, n := range c.p.N {
				pts = append(pts, tracePoint{at: p.at(n, view.At(c.p.Y, i))})
			}
			s.open(mark{class: "curve", title: title})
			trace{l[c.env], stroke{ink: l[c.env].thin(0.45), width: 0.8}, 1.7}.draw(s, pts)
			s.close()
		}
	}
	return p
}
