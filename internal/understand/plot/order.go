package plot

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// run is one environment's trials in the order in which they ran.
type run struct {
	x, y  []float64 // when, see when; value over the median
	fails []float64
}

// order has a strip for each environment, all over the same time. Values are
// relative to the environment's median, so that what moved the machine stands
// at the same place in every strip.
func order(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	work := slices.IndexFunc(d.Works, func(x view.Work) bool { return x.ID == w.ID })
	runs := map[int]run{}
	var sp, ratio span
	for e := range d.Envs {
		r := runOf(d, t, e, work)
		if len(r.x) > 0 {
			runs[e] = r
		}
		sp.add(r.x...)
		sp.add(r.fails...)
		ratio.add(r.y...)
	}
	if len(runs) == 0 {
		return nil, noData("workload %s has no single trials of %s: only quantiles were kept", w.ID, t.Metric.ID)
	}
	edge := edges(ratio.all)
	x := axis{lo: min(0, sp.lo), hi: max(sp.hi*1.01, 1), by: 1}
	label := "trials, in the order in which they ran"
	if timed(d) {
		label = "time since the run began, s"
		if x.hi >= 180 {
			x.by, label = 60, "time since the run began, min"
		}
	}
	c := &rowChart{axis: x, rowH: 34, label: label}
	c.cols = []column{{head: "n", right: true}}
	p := &picture{
		title: metricName(t.Metric) + " in run order: " + w.Label(),
		sub:   []string{what(w, t.Metric)},
		notes: []string{fmt.Sprintf("Each point is a trial, over its environment's median; a strip reaches from ÷ %s to × %s of it, a hollow point at its edge lies beyond.", tickLabel(round2(edge)), tickLabel(round2(edge)))},
	}
	envLooks := looks(d)
	anyFailed := false
	for _, e := range rowsOf(w, t) {
		r := chartRow{name: d.EnvLabel(e), look: envLooks[e]}
		r.mark = mark{class: "cell", data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}, {"metric", t.Metric.ID}}}
		if q, ok := runs[e]; ok {
			r.cells = []string{nOf(d, w, t, e)}
			r.draw = func(s surface, y float64) { drawRun(s, c, q, edge, envLooks[e], y) }
			r.mark.title = r.name + ": n " + r.cells[0]
			anyFailed = anyFailed || len(q.fails) > 0
		} else {
			r.missing = missing(t, e)
			if view.At(t.Median, e) != nil {
				r.missing = "n/a: only quantiles were kept of its trials"
			}
			r.mark.title = r.name + ": " + r.missing
		}
		c.rows = append(c.rows, r)
	}
	if anyFailed {
		p.notes[0] += " A red cross is a trial that failed."
	}
	return p.table(c, o), nil
}

func round2(v float64) float64 { return math.Round(v*100) / 100 }

// timed says whether it is known when the trials ran.
func timed(d *view.Data) bool {
	return slices.ContainsFunc(d.Trials.At, func(t int64) bool { return t > 0 })
}

// when is seconds after the run's beginning, or the place in the plan.
func when(d *view.Data, k int) float64 {
	if timed(d) {
		return float64(view.At(d.Trials.At, k)) / 1000
	}
	return float64(view.At(d.Trials.Seq, k))
}

// runOf takes an environment's trials.
func runOf(d *view.Data, t *view.Table, e, work int) run {
	var r run
	dist, m := view.At(t.Dist, e), view.At(t.Median, e)
	if m == nil || *m <= 0 {
		return r
	}
	for i, v := range dist.Values {
		k := view.At(dist.Trial, i)
		if i < len(dist.Trial) && k >= 0 && k < len(d.Trials.Env) && v > 0 {
			r.x, r.y = append(r.x, when(d, k)), append(r.y, v / *m)
		}
	}
	for k, class := range d.Trials.Class {
		if class != "" && view.At(d.Trials.Env, k) == e && view.At(d.Trials.Work, k) == work && k < len(d.Trials.Env) {
			r.fails = append(r.fails, when(d, k))
		}
	}
	return r
}

// edges is how many times its median a strip shows: 98 of 100 values are
// inside, and never less than 10 % to either side.
func edges(ratios []float64) float64 {
	far := lists.Map(ratios, func(r float64) float64 { return math.Abs(math.Log(r)) })
	slices.Sort(far)
	return max(math.Exp(far[(len(far)-1)*98/100])*1.02, 1.1)
}

func drawRun(s surface, c *rowChart, r run, edge float64, l look, y float64) {
	const half = 14.0
	line(s, c.axis.from, y, c.axis.to, y, stroke{ink: frame, width: 0.5})
	for i, x := range r.x {
		f := math.Log(r.y[i]) / math.Log(edge)
		p := point{c.axis.at(x), y - half*max(-1, min(1, f))}
		if math.Abs(f) > 1 {
			s.dot(p, 1.9, ink{}, stroke{ink: l.ink, width: 0.8})
			continue
		}
		glyph(s, p, 1.6, l.shape, l.thin(0.75), stroke{})
	}
	for _, x := range r.fails {
		cross(s, point{c.axis.at(x), y + half - 3}, 2.2, stroke{ink: failed, width: 1})
	}
}
