package compare

import (
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Control is what was taken out of the values of two runs by what the baselines
// did in the same blocks.
type Control struct {
	// Baselines are those that both runs have, with the weight of each: 1 divides
	// by it, 0 leaves the values as they are.
	Baselines []Carried `json:"baselines"`
	// Others stood for the machine in place of the baselines; nil where the two runs
	// have too few in common. See Others.
	Others *Others `json:"others,omitempty"`
	// Moved is by how much all of them were faster or slower in NEW, by the part
	// that the weights leave in, as a fraction. The interval reaches that far to
	// the side on which it would be the machine's.
	Moved float64 `json:"moved,omitempty"`
	// Runs is from how many earlier runs the scatter between runs is known that is
	// in the interval, and Between what it is, as a fraction; 0: it is not known,
	// and not in the interval.
	Runs    int     `json:"runs,omitempty"`
	Between float64 `json:"between,omitempty"`
}

// Carried is a baseline, the metric of it that stood for the machine, and how
// much of it was taken out.
type Carried struct {
	Baseline string  `json:"baseline"`
	Metric   string  `json:"metric"`
	Weight   float64 `json:"weight"`
}

// Sum is how much of what moves all alike is taken out, at most 1.
func (c *Control) Sum() float64 {
	sum := 0.0
	for _, b := range c.Baselines {
		sum += b.Weight
	}
	if c.Others != nil {
		sum += c.Others.Weight
	}
	return min(sum, 1)
}

// controlled finds what the baselines, or other environments, carry of both sides, and
// what earlier runs tell of the scatter between runs. It is false where there is none
// of that, or too few blocks to learn from.
func (c *Changes) controlled(ch *Change, works [2]*analyze.Workload, tables [2]*analyze.Table, cells [2]*analyze.Cell, earlier []*analyze.Result) bool {
	known := []Carried{}
	for _, name := range analyze.Baselines {
		for _, m := range YardMetrics(tables[0].Metric) {
			if Yard(works[0], cells[0], name, m) != nil && Yard(works[1], cells[1], name, m) != nil {
				known = append(known, Carried{Baseline: name, Metric: m})
				break
			}
		}
	}
	k := c.others(ch, works[0], works[1])
	if len(known) == 0 && len(earlier) == 0 && k == nil {
		return false
	}
	var y [2][]float64
	var x [2][][]float64
	for i := range cells {
		if y[i], x[i] = besides(works[i], cells[i], known, k); len(y[i]) < sample.MinRank {
			return false
		}
	}
	ch.Control, ch.humps = &Control{Baselines: known}, cells[0].TwoHumps || cells[1].TwoHumps
	w, runs, n := c.between(ch.Metric, works[0], ch.Env, known, k, earlier)
	moved, surely := 0.0, stats.Interval{}
	if k != nil {
		moved, surely, _ = stats.Shift(x[1][len(known)], x[0][len(known)], stats.Level)
		ch.Control.Others = &Others{Environments: k.n, Engines: len(k.engines), Moved: math.Expm1(moved), Weight: 1}
	}
	var by [2][]float64
	switch {
	case runs != nil:
		by = [2][]float64{weighed(len(y[0]), x[0], w), weighed(len(y[1]), x[1], w)}
		ch.Sample.Runs, ch.Control.Runs, ch.Control.Between = runs, n, math.Expm1(runs.SD)
		if k != nil {
			ch.Control.Others.Weight = w[len(known)]
		}
	case k != nil:
		by = [2][]float64{x[0][len(known)], x[1][len(known)]}
		o := ch.Control.Others
		o.Least, o.Most = c.bounded(ch.Env)
		ch.Sample.Machine = follows(o, moved)
		if !c.baseline(ch.Env) {
			ch.Sample.Apart = follows(o, max(surely.Lo, -surely.Hi, 0)).Width()
		}
	case len(known) == 0:
		ch.Control = nil
		return false
	default:
		take := stats.Control(y, x)
		w, by = take.Weights, take.By
		ch.Sample.Machine = stats.Interval{Lo: -max(take.Moved, 0), Hi: -min(take.Moved, 0)}
		ch.Control.Moved = math.Expm1(take.Moved)
	}
	for i := range known {
		if w != nil {
			known[i].Weight = w[i]
		}
	}
	for i, cell := range cells {
		ch.by[i] = make([]float64, len(cell.ByBlock))
		n := 0
		for b, v := range cell.ByBlock {
			if !math.IsNaN(v) {
				ch.by[i][b] = math.Exp(by[i][n])
				n++
			}
		}
	}
	return true
}

// besides gives the logarithms of a cell's block medians, and what each baseline
// did in the same blocks, its own median where it has no value, and the others last,
// where there are any. Nothing where a value has no logarithm.
func besides(work *analyze.Workload, cell *analyze.Cell, known []Carried, others *crowd) (y []float64, x [][]float64) {
	for _, v := range cell.ByBlock {
		if v <= 0 {
			return nil, nil
		}
	}
	x = make([][]float64, len(known))
	for k, c := range known {
		by := Yard(work, cell, c.Baseline, c.Metric)
		var all []float64
		for _, v := range by {
			if v > 0 {
				all = append(all, math.Log(v))
			}
		}
		if len(all) == 0 {
			return nil, nil
		}
		middle := stats.Median(stats.Sorted(all))
		for b, v := range cell.ByBlock {
			switch {
			case math.IsNaN(v):
			case b < len(by) && by[b] > 0:
				x[k] = append(x[k], math.Log(by[b]))
			default:
				x[k] = append(x[k], middle)
			}
		}
	}
	if others != nil {
		by := others.beside(work, cell)
		if by == nil {
			return nil, nil
		}
		x = append(x, by)
	}
	for _, v := range cell.ByBlock {
		if !math.IsNaN(v) {
			y = append(y, math.Log(v))
		}
	}
	return y, x
}

// weighed is what weights take out of each block.
func weighed(n int, x [][]float64, w []float64) []float64 {
	out := make([]float64, n)
	for c, values := range x {
		for b, v := range values {
			out[b] += w[c] * v
		}
	}
	return out
}

// earlier are the runs that tell of the scatter between runs of the same thing:
// of the same study, alike in what decides how fast things are, and neither of
// the two that are compared.
func (c *Changes) earlier(runs []*analyze.Result) []*analyze.Result {
	same := func(a, b *analyze.Result) bool {
		return a.Run.ID == b.Run.ID && a.Run.Started.Equal(b.Run.Started)
	}
	var out []*analyze.Result
	for _, r := range runs {
		if r.Run.Blocks == 0 || r.Run.Study != c.BaseRun.Run.Study || same(r, c.BaseRun) || same(r, c.NewRun) ||
			slices.ContainsFunc(out, func(o *analyze.Result) bool { return same(o, r) }) ||
			slices.ContainsFunc(Facts(c.BaseRun, r), func(f Fact) bool { return f.Bars }) {
			continue
		}
		out = append(out, r)
	}
	return out
}

// leastRuns is from how many earlier runs their scatter says anything: Student's
// quantile of 3 is 3.2.
const leastRuns = 4

// between estimates from earlier runs how the centre of a run scatters, with the
// weights that make the interval the narrowest, each of which costs a degree of
// freedom.
func (c *Changes) between(metric record.Metric, base *analyze.Workload, env string, known []Carried, others *crowd, earlier []*analyze.Result) (weights []float64, runs *sample.Runs, n int) {
	var y [][]float64
	var x [][][]float64
	for _, r := range earlier {
		w, t, why := counterpartIn(r, base, metric, env)
		if why != "" || t.Cell(env) == nil || t.Cell(env).Median == nil {
			continue
		}
		have := true
		for _, k := range known {
			have = have && Yard(w, t.Cell(env), k.Baseline, k.Metric) != nil
		}
		if !have {
			continue
		}
		if one, by := besides(w, t.Cell(env), known, others); len(one) > 0 {
			y, x = append(y, one), append(x, by)
		}
	}
	if len(y) < leastRuns {
		return nil, nil, 0
	}
	w, sd, nu := stats.Between(y, x)
	return w, &sample.Runs{SD: sd, Nu: nu}, len(y)
}

// counterpartIn finds a metric of a workload in another run.
func counterpartIn(r *analyze.Result, work *analyze.Workload, metric record.Metric, env string) (*analyze.Workload, *analyze.Table, string) {
	c := &Changes{NewRun: r}
	return c.counterpart(work, &analyze.Table{Metric: metric}, env)
}
