package calibrate

import (
	"math"
	"math/rand/v2"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/sample"
)

// effects are the true log ratios of the environments "a" and "b", which are
// equal, to native, by workload of the suite.
var effects = []float64{math.Log(1.3), math.Log(2), math.Log(0.8)}

// session is how much the machine's speed differs between two runs, as a
// standard deviation on the logarithm.
const session = 0.05

// Coverage is what the intervals hold, and how often two equal environments
// are called different.
type Coverage struct {
	Shape    string `json:"shape"`
	Blocks   int    `json:"blocks"`
	PerBlock int    `json:"per_block"`
	// Ratio is that to native, Median that of all values, Suite the geometric
	// mean of three ratios, TwoRuns that of an environment in two runs, divided by
	// native.
	Ratio   Tally `json:"ratio"`
	Median  Tally `json:"median"`
	Suite   Tally `json:"suite"`
	TwoRuns Tally `json:"two_runs"`
	// Same counts equal environments of one run whose p is below 5 %, Marked
	// those whose verdict is "differs", and Changed those of two runs that are
	// said to be better or worse.
	Same    Tally `json:"same"`
	Marked  Tally `json:"marked"`
	Changed Tally `json:"changed"`
}

func (c *Coverage) tallies() []*Tally {
	return []*Tally{&c.Ratio, &c.Median, &c.Suite, &c.TwoRuns, &c.Same, &c.Marked, &c.Changed}
}

// sample simulates runs of native and of two equal environments with three
// workloads, each of them twice, on two days.
func (c *Coverage) sample(s *Shape, reps int, r *rand.Rand) error {
	w := newWorld(s, c.Blocks, c.PerBlock, len(effects),
		env{id: "native", baseline: true, effects: make([]float64, len(effects))},
		env{id: "a", effects: effects}, env{id: "b", effects: effects})
	mean := 0.0
	for _, e := range effects {
		mean += e / float64(len(effects))
	}
	ratio, suite := math.Exp(effects[0]+s.shift(c.PerBlock, 1)), math.Exp(mean+s.shift(c.PerBlock, len(effects)))
	only := compare.Options{Against: "native", Filter: []compare.Filter{{Key: "environment", Values: []string{"a"}}, {Key: "workload", Values: w.works[:1]}}}
	for range reps {
		run, drift := w.simulate(r, 0)
		base, err := evaluate.Run(run, evaluate.Options{})
		if err != nil {
			return err
		}
		run, _ = w.simulate(r, session*r.NormFloat64())
		next, err := evaluate.Run(run, evaluate.Options{})
		if err != nil {
			return err
		}
		changes, err := compare.Between(base, next, only)
		if err != nil {
			return err
		}
		table := base.Workloads[0].Table(metric)
		a := table.Cell("a")
		c.Ratio.interval(&a.Ratio("native").Estimate, ratio)
		c.Median.interval(a.Median, s.rounded(truth(s.median(drift))))
		c.Suite.interval(cost(base.Overhead[0].Suites[0].Cells[0].Overhead), suite)
		c.TwoRuns.interval(changes.Cells[0].Ratio, 1)
		for _, p := range table.Pairs {
			if p.A != "native" && p.B != "native" {
				c.Same.add(p.P != nil && *p.P < 0.05)
				c.Marked.add(p.Verdict == analyze.Differs)
			}
		}
		v := changes.Cells[0].Verdict
		c.Changed.add(v == compare.Better || v == compare.Worse)
	}
	return nil
}

// truth is the median of "a" with the first workload, ns.
func truth(median float64) float64 { return nativeMedian * math.Exp(effects[0]+median) }

// cost turns an overhead back into how many times slower that is.
func cost(o *sample.Estimate) *sample.Estimate {
	if o == nil || o.Lo == nil {
		return o
	}
	lo, hi := 1/(1-*o.Lo), 1/(1-*o.Hi)
	return &sample.Estimate{Lo: &lo, Hi: &hi}
}
