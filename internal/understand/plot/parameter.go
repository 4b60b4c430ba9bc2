package plot

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/sweep"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// sweepsOf are the sweeps of a run: those of the workload that is named, by its
// id or by its name in the catalogue, over the parameter that is.
func sweepsOf(d *view.Data, o Options) ([]sweep.Sweep, error) {
	works := lists.Map(d.Works, func(w view.Work) sweep.Work { return sweep.Work{Name: w.Name, Params: w.Params} })
	all := sweep.Of(works, "")
	if len(all) == 0 {
		return nil, noData("no workload of this run has two levels of a numeric parameter")
	}
	var out []sweep.Sweep
	var known []string
	for _, s := range all {
		named := o.Workload == "" || s.Name == o.Workload
		for _, at := range s.At {
			named = named || d.Works[at.Work].ID == o.Workload
		}
		if named && (o.Over == "" || s.Parameter == o.Over) {
			out = append(out, s)
		}
		known = append(known, s.Name+" over "+s.Parameter)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no such curve: there are %s", strings.Join(analyze.Distinct(known), ", "))
	}
	return out, nil
}

// parameterPicture draws a metric over a parameter: a panel for each workload
// and choice of its other parameters.
func parameterPicture(d *view.Data, o Options) (*picture, error) {
	list, err := sweepsOf(d, o)
	if err != nil {
		return nil, err
	}
	p := &picture{
		title: "Over " + strings.Join(sweep.Parameters(list), ", "),
		notes: []string{"Points are medians, vertical lines their 95 % intervals; the lines between points are drawn for the eye. Where a level has no value the line is broken."},
	}
	envLooks := looks(d)
	var panels []*panel
	var known []view.Work
	for i := range list {
		s := &list[i]
		metric := cmp.Or(o.Metric, d.Works[s.At[0].Work].First)
		for _, at := range s.At {
			known = append(known, d.Works[at.Work])
		}
		envs := valued(d, s, metric)
		for _, g := range byGroup(d, envLooks, envs) {
			if len(g.envs) > 0 {
				panels = append(panels, sweepPanel(d, s, metric, g, envLooks))
			}
		}
		for _, e := range envs {
			p.desc = append(p.desc, sweepSays(d, s, metric, e))
		}
	}
	if len(panels) == 0 {
		if o.Metric != "" {
			return nil, unknownMetric(known, o.Metric)
		}
		return nil, noData("none of the curves over %s has a value", strings.Join(sweep.Parameters(list), ", "))
	}
	p.fill(p.most(panels, "choose a workload, a metric or a parameter"), o)
	return p, nil
}

// valued are the environments that have a value at any place.
func valued(d *view.Data, s *sweep.Sweep, metric string) []int {
	var out []int
	for e := range d.Envs {
		for _, at := range s.At {
			if t := d.Works[at.Work].Table(metric); t != nil && view.At(t.Median, e) != nil {
				out = append(out, e)
				break
			}
		}
	}
	return out
}

// sweepSays is a curve in words.
func sweepSays(d *view.Data, s *sweep.Sweep, metric string, env int) string {
	var parts []string
	for _, at := range s.At {
		t := d.Works[at.Work].Table(metric)
		if t == nil || view.At(t.Median, env) == nil {
			parts = append(parts, at.Level+" n/a")
			continue
		}
		e := sample.Estimate{Value: *t.Median[env], Lo: view.At(t.Lo, env), Hi: view.At(t.Hi, env)}
		parts = append(parts, at.Level+" "+words.Estimate(e, t.Metric.Unit))
	}
	return s.Title() + ", " + d.EnvLabel(env) + " over " + s.Parameter + ": " + strings.Join(parts, ", ")
}

// sweepPanel draws the curves of a group; its axes span all environments.
func sweepPanel(d *view.Data, s *sweep.Sweep, metric string, g lineGroup, envLooks []look) *panel {
	var x, y span
	label, unit := metric, ""
	for _, at := range s.At {
		x.add(at.X)
		t := d.Works[at.Work].Table(metric)
		if t == nil {
			continue
		}
		label, unit = metricName(t.Metric), t.Metric.Unit
		for e := range t.Median {
			y.addEach(t.Median[e], t.Lo[e], t.Hi[e])
		}
	}
	p := &panel{title: capital(words.Clean(s.Title())), x: x.axis(s.Unit), y: y.axis(unit), xLabel: words.Clean(s.Parameter)}
	if g.title != "" {
		p.title += ": " + g.title
	}
	if p.yLabel = label; p.y.unit != "" {
		p.yLabel += ", " + p.y.unit
	}
	for _, at := range s.At {
		p.places = append(p.places, place{at.X, words.Clean(at.Level)})
	}
	strokes := lines(envLooks, g.envs)
	for _, e := range g.envs {
		p.legend = append(p.legend, lineKey(d.EnvLabel(e), strokes[e]))
	}
	p.draw = func(on surface, p *panel) {
		for _, e := range g.envs {
			pts := lists.Map(s.At, func(at sweep.Place) tracePoint {
				return medianAt(p, at.X, d.Works[at.Work].Table(metric), e)
			})
			on.open(mark{class: "curve", title: sweepSays(d, s, metric, e), data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}, {"metric", metric}}})
			trace{envLooks[e], strokes[e], 2.2}.draw(on, pts)
			on.close()
		}
	}
	return p
}

// medianAt is an environment's median with its interval, in its place.
func medianAt(p *panel, x float64, t *view.Table, env int) tracePoint {
	if t == nil || view.At(t.Median, env) == nil {
		return tracePoint{gone: true}
	}
	out := tracePoint{at: p.at(x, *t.Median[env])}
	if lo, hi := view.At(t.Lo, env), view.At(t.Hi, env); lo != nil && hi != nil {
		out.lo, out.hi = p.y.at(*lo), p.y.at(*hi)
	}
	return out
}
