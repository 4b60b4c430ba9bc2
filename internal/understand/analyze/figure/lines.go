package figure

import (
	"cmp"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/papers"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/sweep"
)

// Works are the workloads of a run, among which there may be curves.
func Works(res *analyze.Result) []sweep.Work {
	return lists.Map(res.Workloads, func(w analyze.Workload) sweep.Work {
		return sweep.Work{Name: w.Group(), Params: w.Params}
	})
}

// curves has a panel for each choice of the other parameters. Published is each
// value that a table sets beside one of these.
func curves(res *analyze.Result, f figures.Figure) ([]Panel, string) {
	if f.Over == figures.OverData {
		return dataCurves(res, f)
	}
	var out []Panel
	for _, s := range sweep.Of(Works(res), f.Over) {
		if s.Name != f.Workload {
			continue
		}
		p := Panel{Title: s.Title(), Over: s.Parameter, XUnit: s.Unit}
		for _, e := range res.Environments {
			l := Line{Label: e.ID, Env: e.ID}
			for _, at := range s.At {
				q := Point{X: at.X, Level: at.Level}
				if t := res.Workloads[at.Work].Table(f.Metric); t != nil && t.Cell(e.ID) != nil {
					p.Unit, q.Y, q.N = t.Metric.Unit, t.Cell(e.ID).Median, t.Cell(e.ID).N
				}
				l.Points = append(l.Points, q)
			}
			if slices.ContainsFunc(l.Points, func(q Point) bool { return q.Y != nil }) {
				p.Lines = append(p.Lines, l)
			}
		}
		if len(p.Lines) > 0 {
			p.Lines = append(p.Lines, publishedOver(res, f, &s, p.Unit)...)
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, "this run has no " + f.Metric + " of " + f.Workload + " at two levels of " + f.Over
	}
	return out, ""
}

// publishedOver are the published values that the study's tables set beside those
// of a sweep.
func publishedOver(res *analyze.Result, f figures.Figure, s *sweep.Sweep, unit string) []Line {
	var out []Line
	for i := range res.Papers {
		for k := range res.Papers[i].Cells {
			c := &res.Papers[i].Cells[k]
			at := slices.IndexFunc(s.At, func(p sweep.Place) bool { return res.Workloads[p.Work].ID == c.Workload })
			by, ok := papers.Factor(unit, c.Unit)
			if at < 0 || !ok || c.Metric != f.Metric || res.Papers[i].Source != f.Source {
				continue
			}
			name := label(c)
			n := slices.IndexFunc(out, func(l Line) bool { return l.Label == name && l.Env == c.Env })
			if n < 0 {
				n = len(out)
				out = append(out, Line{Label: name, Env: c.Env, Published: true})
			}
			y := theirs(c, 1/by)
			out[n].Points = append(out[n].Points, Point{X: s.At[at].X, Level: s.At[at].Level, Y: &y})
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i].Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	return out
}

// ramps has a panel for each workload of ramps: a line for each environment over
// the number of containers, and the published mean of each.
func ramps(res *analyze.Result, f figures.Figure) ([]Panel, string) {
	var out []Panel
	for i := range res.Workloads {
		w := &res.Workloads[i]
		if w.Group() != f.Workload {
			continue
		}
		p := Panel{Title: w.ID, Unit: "ns", Over: "containers already running"}
		if f.Amount() {
			p.Unit, p.Over = "bytes", "containers running; memory above where the ramp began"
		}
		if f.Part == figures.Course {
			p.Over = "seconds; memory that is not free, above where the ramp began"
		}
		most := 0.0
		for k := range w.Density {
			l := Line{Label: w.Density[k].Env, Env: w.Density[k].Env, Points: rampOf(&w.Density[k], f.Part)}
			if len(l.Points) > 0 {
				p.Lines = append(p.Lines, l)
				most = max(most, l.Points[len(l.Points)-1].X)
			}
		}
		if len(p.Lines) == 0 {
			continue
		}
		for _, c := range cells(res, f) {
			if by, ok := papers.Factor(p.Unit, c.Unit); ok && c.Workload == w.ID {
				p.Lines = append(p.Lines, level(c, 1/by, most, f.Amount()))
			}
		}
		out = append(out, p)
	}
	if len(out) == 0 {
		return nil, "this run has no " + f.Part + " of ramps of " + f.Workload
	}
	return out, ""
}

// level is a published mean over a ramp: a level, or of memory a slope.
func level(c *analyze.PaperCell, by, most float64, slope bool) Line {
	l := Line{Label: label(c), Env: c.Env, Published: true}
	for _, x := range []float64{0, most} {
		y := sample.Estimate{Value: c.Published * by}
		if slope {
			y.Value *= x
		}
		l.Points = append(l.Points, Point{X: x, Y: &y})
	}
	return l
}

// rampOf are the points of one part. Memory is what is not free on the machine, as
// the program free counts it, which the papers looked at, over the containers or over
// time; the footprint is what belongs to the containers.
func rampOf(c *density.Cell, part string) []Point {
	var p *density.Points
	switch part {
	case figures.Starts:
		p = c.Starts
	case figures.Stops:
		p = c.Stops
	case figures.Memory:
		p = sum(c, []string{"free"})
	case figures.Footprint:
		p = sum(c, density.FootprintParts)
	case figures.Course:
		p = c.Course
	}
	if p == nil {
		return nil
	}
	var out []Point
	for i, n := range p.N {
		out = append(out, Point{X: n, Y: &sample.Estimate{Value: p.Y[i]}})
	}
	return out
}

// sum adds those of these parts up that there are, at the numbers that each has, and
// counts from where the ramp begins: a daemon's own memory is no container's.
func sum(c *density.Cell, of []string) *density.Points {
	total, have := map[float64]float64{}, map[float64]int{}
	parts := 0
	for _, name := range of {
		p, ok := c.Memory[name]
		if !ok {
			continue
		}
		parts++
		for i, n := range p.N {
			total[n] += p.Y[i]
			have[n]++
		}
	}
	out := &density.Points{}
	for n, k := range have {
		if k == parts {
			out.N = append(out.N, n)
		}
	}
	slices.Sort(out.N)
	out.Y = lists.Map(out.N, func(n float64) float64 { return total[n] - total[out.N[0]] })
	return out
}
