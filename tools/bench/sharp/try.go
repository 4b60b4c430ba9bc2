package sharp

import (
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
)

// thresholds are the gates that are tried.
var thresholds = []float64{0.005, 0.01}

// try is what came out of one window.
type try struct {
	blocks int
	// fails says of each threshold whether the gate failed, at any of its looks.
	fails []bool
	// finds are the worsenings that the gates say they could have found.
	finds []float64
	// p is of the test that there is no difference, at the end; center is the log
	// ratio.
	p, center float64
}

// gated puts a window to gates as a run with a budget would: with looks that its
// first blocks choose, until one has decided. fit is how many blocks they foretell.
// compareAt analyses the first blocks of it.
func gated(blocks, fit int, compareAt func(blocks int, g *record.Gate) (*compare.Changes, error)) (t try, err error) {
	at := gate.Within(fit)
	g := &record.Gate{Budget: true, At: at, Shares: gate.Shares(at), Looks: len(at) + 1}
	looks := append(slices.DeleteFunc(slices.Clone(at), func(n int) bool { return n >= blocks }), blocks)
	t = try{blocks: blocks, fails: make([]bool, len(thresholds)), finds: make([]float64, len(thresholds))}
	ended := make([]bool, len(thresholds))
	for _, n := range looks {
		c, err := compareAt(n, g)
		if err != nil {
			return t, err
		}
		for i, limit := range thresholds {
			if ended[i] && n != blocks {
				continue
			}
			if err := gate.Judge(c, gate.Thresholds{Rules: []gate.Rule{{Metric: Metric, FailAbove: limit}}, Looking: true}); err != nil {
				return t, err
			}
			if !ended[i] {
				t.fails[i] = c.Gate.State == compare.GateFails
				ended[i] = c.Gate.State != compare.Inconclusive
			}
			if ch := cell(c); n == blocks && ch.Gate != nil && ch.Gate.Finds != nil {
				t.finds[i] = *ch.Gate.Finds
			}
		}
		if ch := cell(c); n == blocks && ch.Ratio != nil && ch.P != nil {
			t.p, t.center = *ch.P, math.Log(ch.Ratio.Value)
		} else {
			t.p = 1
		}
	}
	return t, nil
}

// cell is the one that is gated.
func cell(c *compare.Changes) *compare.Change {
	for i := range c.Cells {
		if c.Cells[i].Metric.ID == Metric && c.Cells[i].Env == "a" {
			return &c.Cells[i]
		}
	}
	return &compare.Change{}
}

// onlyIt leaves all but the gated cell out of the comparison, as a rule does.
var onlyIt = compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{Metric}}, {Key: "environment", Values: []string{"a"}}}}

// fitting is how many blocks a gate expects to fit, by the first ones.
func fitting(cost []float64) int {
	const first = 4
	if len(cost) <= first {
		return len(cost)
	}
	sum, one := 0.0, 0.0
	for i, c := range cost {
		sum += c
		if i < first {
			one += c / first
		}
	}
	return max(1, int(sum/one))
}

// within tries a window as a gate on two environments of one run.
func within(blocks []Block, a, b int) (try, error) {
	parts := []part{{id: "a", env: a}, {id: "b", env: b}}
	return gated(len(blocks), fitting(costs(blocks, a, b)), func(n int, g *record.Gate) (*compare.Changes, error) {
		r, err := resultOf("window", blocks[:n], parts, g)
		if err != nil {
			return nil, err
		}
		return compare.Within(r, "a", "b", compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{Metric}}}})
	})
}

// besides are the baselines' environments in a block, and the measured one.
func besides(env, changes int) []part {
	return []part{{id: "a", env: env}, {id: "native", baseline: "native", env: changes}, {id: "floor", baseline: "floor", env: changes + 1}}
}

// baseOf analyses a window as the run that others are held against, of the program that
// has no change.
func baseOf(blocks []Block, changes int) (*analyze.Result, error) {
	return resultOf("base", blocks, besides(0, changes), nil)
}

// asNew is a window as a run that is gated by others; what it had at a look is analysed
// once.
type asNew struct {
	blocks []Block
	parts  []part
	fit    int
	at     map[int]*analyze.Result
}

func newRun(blocks []Block, env, changes int) *asNew {
	return &asNew{blocks: blocks, parts: besides(env, changes), fit: fitting(costs(blocks, env, changes, changes+1)), at: map[int]*analyze.Result{}}
}

// against tries it with another run as BASE, and with earlier ones that tell how runs
// scatter, if any.
func (w *asNew) against(base *analyze.Result, earlier []*analyze.Result) (try, error) {
	o := onlyIt
	o.Earlier = earlier
	return gated(len(w.blocks), w.fit, func(n int, g *record.Gate) (c *compare.Changes, err error) {
		r := w.at[n]
		if r == nil {
			if r, err = resultOf("new", w.blocks[:n], w.parts, g); err != nil {
				return nil, err
			}
			w.at[n] = r
		}
		return compare.Between(base, r, o)
	})
}

// medianOf is that of values which need not be sorted.
func medianOf(x []float64) float64 { return stats.Median(stats.Sorted(x)) }
