package findings

import (
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// A share of failures is counted over trials, not estimated over blocks: its
// interval is Wilson's, and its p that of the score test, which Wilson's
// interval inverts.

// counted is a share of failures, as its pair is judged by it.
type counted struct {
	failed, trials int
	share          stats.Interval // in per cent
}

// failures forms the pairs of a test that speaks of failed trials.
func (f *former) failures(w *analyze.Workload) {
	r := f.t.Value
	if r == nil {
		return
	}
	for _, e := range f.choose.a {
		c := countOf(w, e.ID)
		if c == nil || c.Trials == 0 {
			continue
		}
		p := pair{ClaimPair: analyze.ClaimPair{Run: f.r.Run.ID, Range: r.Text, Unit: record.Failures.Unit, Method: "wilson",
			A: analyze.ClaimSide{Env: e.ID, Engine: e.Engine, Workload: w.ID, Metric: record.Failures.ID}}}
		in := stats.Wilson(c.Failed, c.Trials, 1-sample.Alpha/float64(looksOf(f.r)))
		p.counted = &counted{failed: c.Failed, trials: c.Trials, share: stats.Interval{Lo: 100 * in.Lo, Hi: 100 * in.Hi}}
		p.bounds = boundsOf(r, false)
		f.pairs = append(f.pairs, p)
	}
}

func countOf(w *analyze.Workload, env string) *analyze.Count {
	return analyze.Find(w.Counts, func(x *analyze.Count) bool { return x.Env == env })
}

func (c *counted) percent() float64 { return 100 * float64(c.failed) / float64(c.trials) }

// inside is the one-sided p of the nearest share in the range.
func (c *counted) inside(b bounds) float64 {
	edge, outside := b.beyond(c.percent())
	if !outside {
		return 1
	}
	p0 := edge / 100
	switch {
	case p0 > 0 && p0 < 1:
	case c.percent() == edge:
		return 1 // the bound itself is no part of the range, and what lies next to it looks the same
	default:
		return 0 // what can't be has happened
	}
	z := math.Abs(c.percent()/100-p0) / math.Sqrt(p0*(1-p0)/float64(c.trials))
	return stats.NormalTail(z)
}

// judgeCounted gives a pair of failures its verdict.
func (p *pair) judgeCounted() {
	in := p.counted.share
	lo, hi := in.Lo, in.Hi
	p.Blocks = p.counted.trials
	p.Estimate = &sample.Estimate{Value: p.counted.percent(), Lo: &lo, Hi: &hi}
	p.clear = min(p.bounds.distance(lo), p.bounds.distance(hi))
	if p.decide(in) {
		p.within(p.counted.percent(), in)
		p.BlocksNeeded = blocksFor(p.counted.percent(), in, p.bounds, p.Blocks)
	}
}
