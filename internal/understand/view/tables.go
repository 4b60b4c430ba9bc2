package view

import (
	"cmp"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// plan says what of a workload's tables is shown, and how much of each.
type plan struct {
	tables []depth
}

// depth is how much of a table is shown.
type depth int

const (
	hidden    depth = iota // not at all
	numbers                // medians and ratios
	quantiles              // and the distributions as quantiles
	values                 // and every value
)

// plan shares the bounds out among all tables, the most important first: what
// each workload shows first, then what else it shows, then its own metrics,
// those of the life cycle, and what was sampled. A table gets its values whole
// or not at all, so that its environments can be compared.
func (b *builder) plan() {
	type place struct{ w, t, rank int }
	var order []place
	envs := len(b.res.Environments)
	for w := range b.res.Workloads {
		work := &b.res.Workloads[w]
		b.plans = append(b.plans, plan{make([]depth, len(work.Tables))})
		first := work.First("")
		for t := range work.Tables {
			table := &work.Tables[t]
			shown := slices.Contains(work.Show, table.Metric.ID)
			if len(table.Ranking) > 0 || shown {
				order = append(order, place{w, t, rank(table, table == first, shown)})
			}
		}
	}
	slices.SortStableFunc(order, func(x, y place) int { return cmp.Compare(x.rank, y.rank) })
	cells, dists, points := maxCells, maxDists, b.points
	lost, plain := 0, 0
	for _, p := range order {
		t, to := &b.res.Workloads[p.w].Tables[p.t], &b.plans[p.w].tables[p.t]
		if cells < envs {
			lost++
			continue
		}
		cells -= envs
		*to = numbers
		if n := len(t.Ranking); n <= dists {
			dists -= n
			*to = quantiles
		} else {
			plain++
			continue
		}
		n := 0
		for i := range t.Cells {
			n += t.Cells[i].N
		}
		if n <= points {
			points -= n
			*to = values
		}
	}
	if lost > 0 {
		b.leave("Of %d metrics of the workloads %d are left out, those that were sampled first; the format json has all.", len(order), lost)
	}
	if plain > 0 {
		b.leave("Of %d metrics of the workloads %d have no distribution here.", len(order), plain)
	}
}

// rank is a table's importance, 0 the highest.
func rank(t *analyze.Table, first, shown bool) int {
	switch {
	case first:
		return 0
	case shown:
		return 1
	case t.Metric.Kind == record.Sampled:
		return 4
	case t.Metric.Kind == record.Detail:
		return 5
	case t.Metric.From != "":
		return 3
	}
	return 2
}

func (b *builder) work(w int) Work {
	in := &b.res.Workloads[w]
	out := Work{ID: in.ID, Title: cmp.Or(in.Title, in.ID), Name: in.Group(), Params: in.Params, Show: in.Show, Sort: in.Sort, Counts: slices.Clone(in.Counts),
		Tables: []Table{}, Density: in.Density, Load: in.Load}
	if out.Show == nil {
		out.Show = []string{}
	}
	for i := range out.Counts {
		c := &out.Counts[i]
		c.Classes = slices.Clone(c.Classes)
		for k := range c.Classes {
			c.Classes[k].Text = clip(c.Classes[k].Text, maxNote)
		}
	}
	for t := range in.Tables {
		if d := b.plans[w].tables[t]; d > hidden {
			out.Tables = append(out.Tables, b.table(&in.Tables[t], d))
		}
	}
	if t := in.First(""); t != nil && len(t.Ranking) > 0 && out.Table(t.Metric.ID) != nil {
		out.First = t.Metric.ID
	}
	return out
}

func (b *builder) table(in *analyze.Table, d depth) Table {
	out := Table{Metric: in.Metric, Test: in.Test, Ranking: []int{}, Against: []Against{}, Dist: make([]Dist, len(in.Cells))}
	for _, e := range in.Ranking {
		out.Ranking = append(out.Ranking, b.envs[e])
	}
	for i := range in.Cells {
		c := &in.Cells[i]
		out.N, out.Blocks = append(out.N, c.N), append(out.Blocks, c.Blocks)
		v, lo, hi := parts(c.Median)
		out.Median, out.Lo, out.Hi = append(out.Median, v), append(out.Lo, lo), append(out.Hi, hi)
		v, _, _ = parts(c.P95)
		out.P95 = append(out.P95, v)
		out.Group, out.Missing = append(out.Group, c.Group), append(out.Missing, c.Missing)
		out.Places = append(out.Places, c.Places)
		if d >= quantiles && finite(c.Quantiles) {
			out.Dist[i].Quantiles = c.Quantiles
		}
	}
	out.Times = b.times(in)
	for _, name := range analyze.Baselines {
		if a, ok := against(in, name); ok {
			out.Against = append(out.Against, a)
		}
	}
	return out
}

// times is how many times worse than the first one each environment is: than the
// first that is no baseline, unless nothing else ran.
func (b *builder) times(in *analyze.Table) []*float64 {
	out, best := make([]*float64, len(in.Cells)), ""
	if i := slices.IndexFunc(in.Ranking, func(e string) bool { return in.Cell(e).Places != nil }); i >= 0 {
		best = in.Ranking[i]
	}
	for i := range in.Pairs {
		of, v := "", in.Pairs[i].Value
		switch p := &in.Pairs[i]; {
		case p.Missing != "":
		case p.B == best:
			of = p.A
		case p.A == best && v > 0:
			of, v = p.B, 1/v
		}
		if of != "" {
			if in.Metric.Better == record.HigherIsBetter && v > 0 {
				v = 1 / v
			}
			out[b.envs[of]] = &v
		}
	}
	return out
}

func against(in *analyze.Table, baseline string) (out Against, ok bool) {
	out.Baseline = baseline
	for i := range in.Cells {
		var v, lo, hi *float64
		var verdict analyze.Verdict
		needed := 0
		if q := in.Cells[i].Ratio(baseline); q != nil && q.Missing == "" {
			v, lo, hi = parts(&q.Estimate)
			verdict, needed, ok = q.Verdict, q.BlocksNeeded, true
		}
		out.Ratio, out.Lo, out.Hi = append(out.Ratio, v), append(out.Lo, lo), append(out.Hi, hi)
		out.Verdict, out.Needed = append(out.Verdict, verdict), append(out.Needed, needed)
	}
	return out, ok
}

func parts(e *sample.Estimate) (v, lo, hi *float64) {
	if e == nil {
		return nil, nil, nil
	}
	return &e.Value, e.Lo, e.Hi
}

// finite says whether all are numbers: between two values that are hardly any
// there may be none.
func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return v-v != 0 })
}
