// Package steady says by how much an environment scatters in each state of the
// machine, from a run that has it twice in each: two that are the same differ by
// nothing but scatter.
package steady

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Factor is the factor whose levels are the states of the machine, and AsItIs the
// level of a machine that stays as it is.
const (
	Factor = "tuned"
	AsItIs = "default"
)

// Table is one environment, by the states of the machine.
type Table struct {
	Engine   string `json:"engine"`
	Workload string `json:"workload"`
	Metric   string `json:"metric"`
	Unit     string `json:"unit"`
	Blocks   int    `json:"blocks"`
	Rows     []Row  `json:"rows"`
}

// Row is a state of the machine.
type Row struct {
	State  string           `json:"state"`
	Median *sample.Estimate `json:"median,omitempty"` // of both twins
	// Ratio is the time over that of the machine as it is, inside blocks.
	Ratio *sample.Estimate `json:"ratio,omitempty"`
	// Noise is the half-width of the 95 % interval of the ratio of the two that are
	// the same, over all blocks: what a run of so many blocks can't see.
	Noise *float64 `json:"noise,omitempty"`
	// Scatter is how far the two are apart in a block, over how far they are when the
	// machine is as it is: below 1 it scatters less.
	Scatter *sample.Estimate `json:"scatter,omitempty"`
	Missing string           `json:"missing,omitempty"`
}

// Column gives a metric's values of an environment by block, or why there are none.
type Column func(env string) (byBlock []float64, median *sample.Estimate, missing string)

// twin is an environment and the one that is the same.
type twin struct{ state, a, b string }

// Of puts a table together from the environments of a run that are there twice in
// several states of the machine, one of which is the machine as it is; one for each
// environment of this kind.
func Of(envs []record.Environment, workload string, metric record.Metric, column Column) []*Table {
	var out []*Table
	for len(envs) > 0 {
		var same, rest []record.Environment
		for _, e := range envs {
			if alike(envs[0], e) {
				same = append(same, e)
			} else {
				rest = append(rest, e)
			}
		}
		envs = rest
		if t := tableOf(twins(same), column); t != nil {
			t.Engine, t.Workload, t.Metric, t.Unit = same[0].Engine, workload, metric.ID, metric.Unit
			out = append(out, t)
		}
	}
	return out
}

// alike: they differ in the state of the machine, if in anything.
func alike(a, b record.Environment) bool {
	for _, k := range slices.Concat(keys(a.Levels), keys(b.Levels)) {
		if k != Factor && a.Levels[k] != b.Levels[k] {
			return false
		}
	}
	return a.Engine == b.Engine && a.Baseline == b.Baseline
}

func keys(m map[string]string) (out []string) {
	for k := range m {
		out = append(out, k)
	}
	return out
}

// twins are the states in which an environment is there twice, in the plan's order.
func twins(envs []record.Environment) []twin {
	var out []twin
	for _, e := range envs {
		state := cmp.Or(e.Levels[Factor], AsItIs)
		i := slices.IndexFunc(out, func(t twin) bool { return t.state == state })
		switch {
		case i < 0:
			out = append(out, twin{state: state, a: e.ID})
		case out[i].b == "":
			out[i].b = e.ID
		}
	}
	return slices.DeleteFunc(out, func(t twin) bool { return t.b == "" })
}

func tableOf(states []twin, column Column) *Table {
	i := slices.IndexFunc(states, func(t twin) bool { return t.state == AsItIs })
	if i < 0 || len(states) < 2 {
		return nil
	}
	states[0], states[i] = states[i], states[0]
	t := &Table{}
	var base pair
	for _, s := range states {
		p, missing := pairOf(s, column)
		row := Row{State: s.state, Missing: missing}
		if missing == "" {
			row.Median, row.Noise = p.median, p.noise()
			if s.state == AsItIs {
				base = p
				t.Blocks = len(p.apart())
			} else if base.median != nil {
				row.Ratio, row.Scatter = inBlocks(p.mean, base.mean), inBlocks(p.far(), base.far())
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if base.median == nil {
		return nil
	}
	return t
}

// pair holds the values of two that are the same, by block.
type pair struct {
	a, b   []float64
	mean   []float64 // geometric, NaN where one is missing
	median *sample.Estimate
}

func pairOf(t twin, column Column) (pair, string) {
	a, _, why := column(t.a)
	b, _, whyB := column(t.b)
	why = cmp.Or(why, whyB)
	if why != "" {
		return pair{}, why
	}
	p := pair{a: a, b: b}
	var all []float64
	for i := range min(len(a), len(b)) {
		p.mean = append(p.mean, math.Sqrt(a[i]*b[i]))
		if !math.IsNaN(p.mean[i]) && a[i] > 0 && b[i] > 0 {
			all = append(all, a[i], b[i])
		}
	}
	if len(all) == 0 {
		return pair{}, "no block has both"
	}
	sorted := stats.Sorted(all)
	// Two of a block share its disturbances: the interval is that of so many blocks.
	interval, ok := stats.MedianIntervalAs(sorted, len(all)/2, stats.Level)
	p.median = sample.NewEstimate(stats.Median(sorted), interval, ok)
	return p, ""
}

// apart are the differences of the two, on logs, of the blocks that have both.
func (p pair) apart() (d []float64) {
	for i, m := range p.mean {
		if m > 0 {
			d = append(d, math.Log(p.b[i]/p.a[i]))
		}
	}
	return d
}

// far is how far the two are apart in each block, NaN where it is not known. Clocks
// have steps: two that are equal are apart by less than can be seen, which is taken
// for a ten-thousandth.
func (p pair) far() []float64 {
	out := make([]float64, len(p.mean))
	for i, m := range p.mean {
		out[i] = math.NaN()
		if m > 0 {
			out[i] = max(math.Abs(math.Log(p.b[i]/p.a[i])), 1e-4)
		}
	}
	return out
}

// noise is the half-width of the interval of the ratio.
func (p pair) noise() *float64 {
	_, i, ok := stats.PseudoMedian(p.apart(), stats.Level)
	if !ok {
		return nil
	}
	half := (math.Exp(i.Hi) - math.Exp(i.Lo)) / 2
	return &half
}

// inBlocks is the ratio of two, block by block: the pseudo-median of its logs.
func inBlocks(x, y []float64) *sample.Estimate {
	var logs []float64
	for i := range min(len(x), len(y)) {
		if x[i] > 0 && y[i] > 0 {
			logs = append(logs, math.Log(x[i]/y[i]))
		}
	}
	if len(logs) == 0 {
		return nil
	}
	v, i, ok := stats.PseudoMedian(logs, stats.Level)
	if len(logs) == 1 || !ok {
		return sample.NewEstimate(math.Exp(stats.Median(stats.Sorted(logs))), stats.Interval{}, false)
	}
	return sample.NewEstimate(math.Exp(v), stats.Interval{Lo: math.Exp(i.Lo), Hi: math.Exp(i.Hi)}, ok)
}

// Best is the single state that scatters least, and surely less than the machine as
// it is; empty where none does.
func (t *Table) Best() string {
	best, least := "", 1.0
	for _, r := range t.Rows {
		if s := r.Scatter; s != nil && s.Hi != nil && *s.Hi < 1 && s.Value < least {
			best, least = r.State, s.Value
		}
	}
	return best
}
