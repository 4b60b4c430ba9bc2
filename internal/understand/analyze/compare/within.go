package compare

import (
	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Within compares two environments of one run, from pairs of the same block.
func Within(r *analyze.Result, base, next string, o Options) (*Changes, error) {
	for _, id := range []string{base, next} {
		if r.Environment(id) == nil {
			known := lists.Map(r.Environments, func(e record.Environment) string { return e.ID })
			return nil, &analyze.ChoiceError{What: "environment", Word: id, Known: known}
		}
	}
	c := newChanges(r, r, o)
	c.Interleaved = r.Run.Imported == nil // else a block is merely the n-th measurement of each
	c.Base.Env, c.New.Env = base, next
	for w := range r.Workloads {
		work := &r.Workloads[w]
		for t := range work.Tables {
			c.pair(work, &work.Tables[t], base, next)
		}
		for i := range work.Counts {
			for k := range work.Counts {
				if work.Counts[i].Env == base && work.Counts[k].Env == next {
					c.failed(work.ID, &work.Counts[i], &work.Counts[k])
				}
			}
		}
	}
	c.Facts = terms(r, base, next)
	return c, c.finish(o)
}

// pair compares one metric of two environments.
func (c *Changes) pair(work *analyze.Workload, t *analyze.Table, base, next string) {
	b, n := t.Cell(base), t.Cell(next)
	if b.Median == nil && n.Median == nil {
		return
	}
	ch := c.change(c.BaseRun, work, t, base)
	ch.NewEnv, ch.Base, ch.New = next, b.Median, n.Median
	ch.Levels = map[string]string{}
	x, y := c.BaseRun.Environment(base), c.BaseRun.Environment(next)
	for f, l := range x.Levels {
		if y.Levels[f] == l {
			ch.Levels[f] = l
		}
	}
	switch {
	case n.Median == nil:
		ch.Missing, ch.Lost = next+": "+n.Missing, true
	case b.Median == nil:
		ch.Missing = base + ": " + b.Missing
	case sample.Identical(b.Medians, n.Medians):
		ch.Ratio, ch.Method, ch.Verdict = &sample.Estimate{Value: 1}, "identical", Same
	case !c.Interleaved:
		c.compare(&ch, [2]*analyze.Workload{work, work}, [2]*analyze.Table{t, t}, [2]*analyze.Cell{b, n}, Options{Against: "none"})
	default:
		d, _, _, ok := sample.LogRatios(n.ByBlock, b.ByBlock)
		switch {
		case !ok:
			ch.Missing = "a value is 0 or negative: it has no ratio"
		case len(d) == 0:
			ch.Missing = "no block has a value of both"
		}
		ch.BaseBlocks, ch.NewBlocks = len(d), len(d)
		ch.Sample = sample.Sample{X: d, Paired: true}
	}
	c.Cells = append(c.Cells, ch)
}

// terms says on what terms two environments of one run were compared.
func terms(r *analyze.Result, base, next string) []Fact {
	out := []Fact{}
	pair, _ := r.Audit.Compare(base, next)
	for _, d := range append(pair.Implied, pair.Beyond...) {
		out = append(out, Fact{Where: d.Kind, Key: d.Key, Base: d.A, New: d.B})
	}
	return out
}
