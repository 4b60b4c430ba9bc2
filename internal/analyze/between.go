package analyze

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/stats"
)

// CompareOptions are for Between and Within.
type CompareOptions struct {
	// Delta is the smallest relative difference that matters; 0 takes BASE's.
	Delta float64
	// Against is the baseline that both runs are divided by: native, floor,
	// host, "none" for absolute values, or empty for the first that both have.
	Against string
	// Filter keeps the cells of which each factor has one of these levels.
	Filter []Filter
	// Metrics are globs of sampled metrics to compare too.
	Metrics []string
	// Row and Col are the factors of a grouping.
	Row, Col []string
}

// baselines in the order in which they are preferred.
var baselines = []string{"native", "floor", "host"}

// Between compares two runs.
func Between(base, next *Result, o CompareOptions) (*Changes, error) {
	for _, side := range []struct {
		name string
		r    *Result
	}{{"BASE", base}, {"NEW", next}} {
		if side.r.Run.Blocks == 0 {
			return nil, fmt.Errorf("comparing two runs: %s (run %s) has no counted trial that succeeded: there is nothing to compare; look at it with plimsoll report", side.name, side.r.Run.ID)
		}
	}
	c := newChanges(base, next, o)
	for w := range base.Workloads {
		for t := range base.Workloads[w].Tables {
			c.table(&base.Workloads[w], &base.Workloads[w].Tables[t], o)
		}
	}
	for w := range next.Workloads {
		for t := range next.Workloads[w].Tables {
			c.added(&next.Workloads[w], &next.Workloads[w].Tables[t])
		}
	}
	c.failures()
	c.Facts = facts(base, next)
	return c, c.finish(o)
}

func newChanges(base, next *Result, o CompareOptions) *Changes {
	return &Changes{Schema: ChangesSchema, Base: side(base), New: side(next), Delta: pick(o.Delta, base.Run.Delta, 0.01),
		Facts: []Fact{}, Cells: []Change{}, Failures: []FailureChange{}, Remarks: []record.Remark{}, base: base, next: next}
}

func side(r *Result) Side {
	return Side{Run: r.Run.ID, Study: r.Run.Study, Status: r.Run.Status, Started: r.Run.Started, Tool: r.Run.Tool.Version, Machine: machineOf(r.Run.Host)}
}

// table compares what BASE has of one metric.
func (c *Changes) table(work *Workload, t *Table, o CompareOptions) {
	for i := range t.Cells {
		b := &t.Cells[i]
		if b.Median == nil {
			continue
		}
		ch := c.change(c.base, work, t, b.Env)
		ch.Base, ch.BaseBlocks = b.Median, b.Blocks
		var n *Cell
		var nw *Workload
		var nt *Table
		if nw, nt, ch.Missing = c.counterpart(work, t, b.Env); ch.Missing == "" {
			n = nt.Cell(b.Env)
			if n.Median == nil {
				ch.Missing = "NEW: " + n.Missing
			}
		}
		if ch.Missing != "" {
			ch.Lost = true
		} else {
			ch.New, ch.NewBlocks = n.Median, n.Blocks
			c.compare(&ch, [2]*Workload{work, nw}, [2]*Table{t, nt}, [2]*Cell{b, n}, o.Against)
		}
		c.Cells = append(c.Cells, ch)
	}
}

// counterpart finds the same metric in NEW, or says why there is none.
func (c *Changes) counterpart(work *Workload, t *Table, env string) (nw *Workload, nt *Table, why string) {
	nw = c.next.Workload(work.ID)
	if nw == nil {
		return nil, nil, "NEW has no workload " + work.ID
	}
	if !slices.ContainsFunc(c.next.Environments, func(e record.Environment) bool { return e.ID == env }) {
		for _, x := range c.next.Excluded {
			if x.ID == env && x.Workload == "" {
				return nil, nil, "NEW: " + x.Kind + ": " + x.Reason
			}
		}
		return nil, nil, "NEW has no environment " + env
	}
	if fmt.Sprint(work.Params) != fmt.Sprint(nw.Params) { // fmt prints a map in the order of its keys
		return nil, nil, "the workload has other parameters in NEW"
	}
	nt = nw.Table(t.Metric.ID)
	if nt == nil {
		return nil, nil, "NEW has no such metric"
	}
	if a, b := t.Metric, nt.Metric; a.Unit != b.Unit || a.Better != b.Better || a.From != b.From || a.To != b.To {
		return nil, nil, "the metric means something else in NEW: its unit, its events or its direction differ"
	}
	return nw, nt, ""
}

// added notes what only NEW has.
func (c *Changes) added(work *Workload, t *Table) {
	for i := range t.Cells {
		n := &t.Cells[i]
		if n.Median == nil || slices.ContainsFunc(c.Cells, func(o Change) bool {
			return o.Workload == work.ID && o.Metric.ID == t.Metric.ID && o.Env == n.Env
		}) {
			continue
		}
		ch := c.change(c.next, work, t, n.Env)
		ch.New, ch.NewBlocks, ch.Missing = n.Median, n.Blocks, "not in BASE"
		if w := c.base.Workload(work.ID); w != nil && w.Table(t.Metric.ID) != nil {
			if b := w.Table(t.Metric.ID).Cell(n.Env); b != nil {
				ch.Missing = "BASE: " + b.Missing
			}
		}
		c.Cells = append(c.Cells, ch)
	}
}

func (c *Changes) change(r *Result, work *Workload, t *Table, env string) Change {
	ch := Change{Workload: work.ID, Metric: t.Metric, Env: env}
	if e := r.environment(env); e != nil {
		ch.Engine, ch.Levels = e.Engine, e.Levels
	}
	return ch
}

func (r *Result) environment(id string) *record.Environment {
	for i := range r.Environments {
		if r.Environments[i].ID == id {
			return &r.Environments[i]
		}
	}
	return nil
}

// compare makes two samples of the block medians, each divided by what the
// baseline did in the same block where there is one.
func (c *Changes) compare(ch *Change, works [2]*Workload, tables [2]*Table, cells [2]*Cell, against string) {
	var by [2][]float64
	if against != "none" && !ownScale(ch.Metric.Unit) {
		by, ch.Against, ch.AgainstMetric = yardstick(works, tables, cells, against)
	}
	if ch.Against == "" && identical(cells[0].medians, cells[1].medians) {
		ch.Ratio, ch.Method, ch.Verdict = &Estimate{Value: 1}, "identical", Same
		return
	}
	var logs [2][]float64
	for k := range cells {
		for b, v := range cells[k].aligned {
			if math.IsNaN(v) {
				continue
			}
			if v <= 0 {
				ch.Missing = "a value is 0 or negative: it has no ratio"
				return
			}
			l := math.Log(v)
			if ch.Against != "" {
				if b >= len(by[k]) || !(by[k][b] > 0) {
					continue
				}
				l -= math.Log(by[k][b])
			}
			logs[k] = append(logs[k], l)
		}
	}
	ch.BaseBlocks, ch.NewBlocks = len(logs[0]), len(logs[1])
	ch.sample = sample{x: logs[1], y: logs[0]}
}

// identical says that all values of both are one number: counts and sizes.
func identical(a, b []float64) bool {
	for _, x := range [][]float64{a, b} {
		for _, v := range x {
			if v != a[0] {
				return false
			}
		}
	}
	return len(a) > 0 && len(b) > 0
}

// yardstick finds the baseline that both cells are divided by: the same metric
// of it, and for a step that it has not, its start-up, which tells as much
// about the speed of the machine in that block.
func yardstick(works [2]*Workload, tables [2]*Table, cells [2]*Cell, only string) (by [2][]float64, name, metric string) {
	metrics := []string{tables[0].Metric.ID}
	if tables[0].Metric.From != "" {
		metrics = append(metrics, "startup")
	}
	for _, m := range metrics {
		for _, name := range baselines {
			if only != "" && name != only {
				continue
			}
			ok := true
			for k := range works {
				q := cells[k].Ratio(name)
				t := works[k].Table(m)
				if q == nil || q.Env == cells[k].Env || t == nil || t.Cell(q.Env) == nil || t.Cell(q.Env).Median == nil {
					ok = false
					break
				}
				by[k] = t.Cell(q.Env).aligned
			}
			if ok {
				return by, name, m
			}
		}
	}
	return by, "", ""
}

// failures compares how many trials failed.
func (c *Changes) failures() {
	for w := range c.base.Workloads {
		nw := c.next.Workload(c.base.Workloads[w].ID)
		if nw == nil {
			continue
		}
		for i := range c.base.Workloads[w].Counts {
			b := &c.base.Workloads[w].Counts[i]
			if k := slices.IndexFunc(nw.Counts, func(n Count) bool { return n.Env == b.Env }); k >= 0 {
				c.failed(nw.ID, b, &nw.Counts[k])
			}
		}
	}
}

func (c *Changes) failed(workload string, b, n *Count) {
	if b.Failed == 0 && n.Failed == 0 {
		return
	}
	f := FailureChange{Workload: workload, Env: b.Env, BaseFailed: b.Failed, BaseTrials: b.Trials, NewFailed: n.Failed, NewTrials: n.Trials, BaseRate: b.Rate, NewRate: n.Rate}
	if n.Env != b.Env {
		f.NewEnv = n.Env
	}
	f.Worse = b.Rate != nil && n.Rate != nil && *n.Rate.Lo > *b.Rate.Hi
	c.Failures = append(c.Failures, f)
}

// finish filters, tests and gives verdicts.
func (c *Changes) finish(o CompareOptions) error {
	if err := c.filter(o); err != nil {
		return err
	}
	if !slices.ContainsFunc(c.Cells, func(ch Change) bool { return ch.Base != nil && ch.New != nil }) {
		var why []string
		for i := range c.Cells {
			if m := c.Cells[i].Missing; m != "" && !slices.Contains(why, m) && len(why) < 3 {
				why = append(why, m)
			}
		}
		return fmt.Errorf("comparing: the two have nothing in common (%s); give two runs of one study", strings.Join(why, "; "))
	}
	c.judgeCells()
	c.Grouping = c.group(o.Row, o.Col)
	c.remarks()
	return nil
}

// judgeCells estimates each cell and corrects the family.
func (c *Changes) judgeCells() {
	family := make([]sample, len(c.Cells))
	for i := range c.Cells {
		family[i] = c.Cells[i].sample
	}
	ranks := ranked(family, alpha)
	c.Test = testName(c.Interleaved, ranks)
	p := make([]float64, len(c.Cells))
	for i := range c.Cells {
		p[i] = family[i].p(0, ranks)
	}
	holm := stats.Holm(p)
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.sample.blocks() == 0 {
			if ch.Missing == "" && ch.Method == "" {
				ch.Missing = "no block has a value of both it and " + ch.Against
			}
			continue
		}
		center, in, method, ok := ch.sample.estimate()
		ch.Method, ch.Ratio, ch.Verdict = method, &Estimate{Value: math.Exp(center)}, Unclear
		if lo, hi := math.Exp(in.Lo), math.Exp(in.Hi); ok && !math.IsInf(hi, 0) {
			ch.Ratio.Lo, ch.Ratio.Hi = &lo, &hi
			ch.Verdict, ch.BlocksNeeded = direction(ch.Metric.Better, center, in, ch.sample.blocks(), c.Delta, holm[i])
		}
		if !math.IsNaN(p[i]) {
			ch.P, ch.Holm = &p[i], &holm[i]
		}
	}
}

// direction gives one of the four verdicts.
func direction(better record.Direction, center float64, i stats.Interval, n int, delta, holm float64) (Direction, int) {
	v, needed := verdict(center, i, n, delta)
	switch {
	case v == Equal:
		return Same, 0
	case v == CannotTell:
		return Unclear, needed
	case !(holm < alpha):
		return Unclear, 0
	case (center < 0) == (better == record.HigherIsBetter):
		return Worse, 0
	}
	return Better, 0
}
