package calibrate

import (
	"math"
	"math/rand/v2"

	"plimsoll/internal/analyze"
)

// effects are the true log ratios of the environments "a" and "a2", which are
// equal, to native, by workload of the suite.
var effects = []float64{math.Log(1.3), math.Log(2), math.Log(0.8)}

// session is how much the machine's speed differs between two runs, on the
// logarithm.
const session = 0.05

// Tally counts over repetitions.
type Tally struct {
	N   int `json:"n"`
	Hit int `json:"hit"`
	// Width sums the widths of the intervals: upper end over lower end, less 1.
	Width float64 `json:"-"`
}

func (t *Tally) add(hit bool) {
	t.N++
	if hit {
		t.Hit++
	}
}

func (t *Tally) interval(e *analyze.Estimate, truth float64) {
	if e == nil || e.Lo == nil {
		t.add(false)
		return
	}
	t.add(*e.Lo <= truth && truth <= *e.Hi)
	t.Width += *e.Hi / *e.Lo - 1
}

// Rate is the share of hits.
func (t Tally) Rate() float64 { return float64(t.Hit) / float64(max(1, t.N)) }

// MeanWidth is the mean relative width.
func (t Tally) MeanWidth() float64 { return t.Width / float64(max(1, t.N)) }

func (t *Tally) join(o Tally) { t.N, t.Hit, t.Width = t.N+o.N, t.Hit+o.Hit, t.Width+o.Width }

// Coverage is what the intervals of one shape hold, and how often equal
// environments are called different.
type Coverage struct {
	Ratio, Median, Suite, Between Tally
	// Same: the ranking's pair of two equal environments differs by verdict;
	// Apart: they share no letter; BetweenSame: the same of two runs.
	Same, Apart, BetweenSame Tally
}

func (c *Coverage) join(o Coverage) {
	c.Ratio.join(o.Ratio)
	c.Median.join(o.Median)
	c.Suite.join(o.Suite)
	c.Between.join(o.Between)
	c.Same.join(o.Same)
	c.Apart.join(o.Apart)
	c.BetweenSame.join(o.BetweenSame)
}

// coverage simulates a run of native and of two equal environments with three
// workloads, and a second run of them on another day.
func coverage(s *Shape, blocks, perBlock, reps int, r *rand.Rand) (Coverage, error) {
	w := newWorld(s, blocks, perBlock, len(effects),
		env{id: "native", baseline: true, effects: []float64{0, 0, 0}},
		env{id: "a", effects: effects}, env{id: "a2", effects: effects})
	var out Coverage
	for range reps {
		first, drift := w.simulate(r, 0)
		res, err := analyze.Run(first, analyze.Options{})
		if err != nil {
			return out, err
		}
		t := res.Workloads[0].Table(metric)
		a := t.Cell("a")
		truth := math.Exp(effects[0] + s.unlike)
		out.Ratio.interval(&a.Ratio("native").Estimate, truth)
		out.Median.interval(a.Median, base*math.Exp(effects[0]+s.median(drift)))
		suite := res.Overhead[0].Suites[0].Cells[0].Overhead
		cost := &analyze.Estimate{}
		if suite != nil && suite.Lo != nil {
			lo, hi := 1/(1-*suite.Lo), 1/(1-*suite.Hi)
			cost.Lo, cost.Hi = &lo, &hi
		}
		mean := s.unlike
		for _, e := range effects {
			mean += e / float64(len(effects))
		}
		out.Suite.interval(cost, math.Exp(mean))
		for _, p := range t.Pairs {
			if p.A != "native" && p.B != "native" {
				out.Same.add(p.Verdict == analyze.Differs)
				out.Apart.add(p.Holm != nil && *p.Holm < 0.05)
			}
		}
		second, _ := w.simulate(r, session*r.NormFloat64())
		next, err := analyze.Run(second, analyze.Options{})
		if err != nil {
			return out, err
		}
		ch, err := analyze.Between(res, next, analyze.CompareOptions{Filter: []analyze.Filter{{Key: "environment", Values: []string{"a"}}, {Key: "workload", Values: []string{"a"}}}})
		if err != nil {
			return out, err
		}
		out.Between.interval(ch.Cells[0].Ratio, 1)
		out.BetweenSame.add(ch.Cells[0].Verdict == analyze.Better || ch.Cells[0].Verdict == analyze.Worse)
	}
	return out, nil
}
