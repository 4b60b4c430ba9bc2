package hosts

import (
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// correct takes verdicts back that Holm's correction over all rows and hosts does not
// leave: each host's own table was corrected by itself.
func (c *Comparing) correct() {
	var at []*ChangeAt
	var p []float64
	for i := range c.out.Rows {
		for k := range c.out.Rows[i].Hosts {
			if a := &c.out.Rows[i].Hosts[k]; a.P != nil {
				at, p = append(at, a), append(p, *a.P)
			}
		}
	}
	for i, holm := range stats.Holm(p) {
		at[i].Holm = &holm
		if v := at[i].Verdict; (v == compare.Better || v == compare.Worse) && !(holm < sample.Alpha) {
			at[i].Verdict = compare.Unclear
		}
	}
}

// known are the groups of the hosts that have one.
func (c *Comparing) known(row int) []stats.Group {
	return lists.Filter(c.group[row], func(g stats.Group) bool { return !math.IsNaN(g.Nu) })
}

func (c *Comparing) differ(row int) *Differ {
	groups := c.known(row)
	if len(groups) < 2 {
		return nil
	}
	q, p := stats.Alike(groups)
	if math.IsInf(q, 0) {
		q = math.MaxFloat64 // JSON has no infinity
	}
	return &Differ{Q: q, P: p}
}

// count counts hosts and says where the change holds. That it holds everywhere takes
// every host's verdict, so that the row errs no more often than one of them.
func (r *ChangeRow) count() {
	for _, a := range r.Hosts {
		switch a.Verdict {
		case compare.Better:
			r.Better++
		case compare.Worse:
			r.Worse++
		case compare.Same:
			r.Equal++
		case compare.Unclear:
		}
	}
	switch n := len(r.Hosts); {
	case r.Better == n || r.Worse == n:
		r.Holds = Everywhere
	case r.Equal == n:
		r.Holds = Alike
	case r.Differ != nil && r.Differ.Found:
		r.Holds = ByHost
	default:
		r.Holds = Open
	}
}

// pool summarises a row for machines in general. What a session moved on one host beside
// its blocks is scatter between hosts here, and so in the interval. The verdict takes the
// interval at a level that is corrected for the pooled rows (Bonferroni).
func (c *Comparing) pool(row, rows int) {
	groups, r := c.known(row), &c.out.Rows[row]
	p, ok := stats.Pool(groups, stats.Level)
	if !ok {
		return
	}
	r.Pooled = &Pooled{Ratio: *factor(p.Center, p.Interval), I2: p.I2, Hosts: len(groups), Method: RandomEffects,
		Spread: *sample.NewEstimate(math.Expm1(p.Tau), stats.Interval{Lo: math.Expm1(p.TauInterval.Lo), Hi: math.Expm1(p.TauInterval.Hi)}, p.Spreads)}
	if p.Predicts {
		r.Pooled.Next = factor(p.Center, p.Predicted)
	}
	wide, _ := stats.Pool(groups, 1-sample.Alpha/float64(max(1, rows)))
	r.Verdict = compare.Unclear
	switch v, _ := analyze.VerdictOf(p.Center, p.Interval, len(groups), c.out.Delta); {
	case v == analyze.Equal:
		r.Verdict = compare.Same
	case v != analyze.Differs || wide.Interval.Lo <= 0 && wide.Interval.Hi >= 0:
	case (p.Center < 0) == (r.Metric.Better == record.HigherIsBetter):
		r.Verdict = compare.Worse
	default:
		r.Verdict = compare.Better
	}
}
