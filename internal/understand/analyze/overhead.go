package analyze

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Baselines are the names of the baselines, in the order in which one is
// chosen where none is named.
var Baselines = []string{"native", "floor", "host"}

// Overhead is what each environment loses against one baseline: a heat map
// with a row for each workload, by its first metric that the baseline has (see
// Workload.First), and a column for each environment that is no baseline.
//
// The overhead is that of Silva et al. 2024, equations 3 and 4: of a metric
// of which more is better O = (Pb − Pi)/Pb, of one of which less is better
// O = 1 − Pb/Pi, Pb being the baseline's performance and Pi the environment's.
// Both are 1 minus the environment's speed relative to the baseline: below 0
// it is faster, 0 alike, 0.5 half as fast, and never more than 1. It is a
// fraction here; reports show per cent.
type Overhead struct {
	Baseline string `json:"baseline"`
	// Environments are the columns, in the run's order.
	Environments []string      `json:"environments"`
	Rows         []OverheadRow `json:"rows"`
	// Suites are geometric means over several rows.
	Suites []Suite `json:"suites,omitempty"`
}

// OverheadRow is one workload by one metric.
type OverheadRow struct {
	Workload string         `json:"workload"`
	Title    string         `json:"title,omitempty"`
	Metric   record.Metric  `json:"metric"`
	Cells    []OverheadCell `json:"cells"`
}

// OverheadCell is the overhead of one environment.
type OverheadCell struct {
	Env string `json:"env"`
	// Against is the environment that the baseline is.
	Against string `json:"against,omitempty"`
	// Overhead is a fraction, with the interval of the ratio put through the
	// same formula: it covers as often as that one.
	Overhead *sample.Estimate `json:"overhead,omitempty"`
	// Blocks, Method and Verdict are the comparison's; "differs" is corrected
	// over all cells of the heat map, that of means over all means.
	Blocks  int     `json:"blocks"`
	Method  string  `json:"method,omitempty"`
	Verdict Verdict `json:"verdict,omitempty"`
	Missing string  `json:"missing,omitempty"`

	cost []float64 // by block, log of how many times worse; NaN where unknown
}

// Suite is the overhead of the geometric mean of the speeds relative to the
// baseline over some rows (Fleming & Wallace 1986). The mean of the logarithms
// is taken in each block that has all of them; over blocks it is then
// estimated as any ratio is.
type Suite struct {
	// Name is "all", or the name of the workload whose parameters vary.
	Name      string         `json:"name"`
	Workloads []string       `json:"workloads"`
	Cells     []OverheadCell `json:"cells"`
}

// AllRows is the name of the suite of all workloads.
const AllRows = "all"

// OverheadOf makes the heat map against a baseline: by each workload's First
// metric, or by the one named. It is nil where the baseline did not run.
func (r *Result) OverheadOf(baseline, metric string) *Overhead {
	o := &Overhead{Baseline: baseline, Environments: []string{}, Rows: []OverheadRow{}}
	ran := false
	for _, e := range r.Environments {
		ran = ran || e.Baseline == baseline
		if e.Baseline == "" {
			o.Environments = append(o.Environments, e.ID)
		}
	}
	if !ran {
		return nil
	}
	var names []string // of the rows' workloads
	for i := range r.Workloads {
		w := &r.Workloads[i]
		t := w.TableOf(metric, baseline)
		if t == nil {
			continue
		}
		row := OverheadRow{Workload: w.ID, Title: w.Title, Metric: t.Metric}
		for _, env := range o.Environments {
			row.Cells = append(row.Cells, t.Overhead(env, baseline))
		}
		o.Rows = append(o.Rows, row)
		names = append(names, w.Group())
	}
	for _, name := range Distinct(names) {
		var rows []int
		for i, n := range names {
			if n == name {
				rows = append(rows, i)
			}
		}
		if len(rows) > 1 && len(rows) < len(names) {
			o.suite(name, rows, r.Run.Delta)
		}
	}
	if len(names) > 1 {
		rows := make([]int, len(names))
		for i := range rows {
			rows[i] = i
		}
		o.suite(AllRows, rows, r.Run.Delta)
	}
	var cells, means []*OverheadCell
	for i := range o.Rows {
		for k := range o.Rows[i].Cells {
			cells = append(cells, &o.Rows[i].Cells[k])
		}
	}
	for i := range o.Suites {
		for k := range o.Suites[i].Cells {
			means = append(means, &o.Suites[i].Cells[k])
		}
	}
	judgeCells(cells)
	judgeCells(means)
	return o
}

// Overhead is that of one environment.
func (t *Table) Overhead(env, baseline string) OverheadCell {
	out := OverheadCell{Env: env}
	c := t.Cell(env)
	if c == nil || c.Median == nil {
		out.Missing = "no value"
		if c != nil {
			out.Missing = c.Missing
		}
		return out
	}
	q := c.Ratio(baseline)
	if q == nil {
		out.Missing = "the baseline " + baseline + " did not run"
		return out
	}
	out.Against, out.Missing, out.Blocks = q.Env, q.Missing, q.Blocks
	if q.Missing != "" {
		return out
	}
	out.Method, out.Verdict = q.Method, q.Verdict
	out.Overhead = OverheadOf(q.Estimate, t.Metric.Better)
	if b := t.Cell(q.Env); b != nil {
		out.cost = costs(c.ByBlock, b.ByBlock, t.Metric.Better)
	}
	return out
}

// OverheadOf puts a ratio to the baseline and its interval through the formula.
func OverheadOf(ratio sample.Estimate, better record.Direction) *sample.Estimate {
	f := func(r float64) float64 { return 1 - 1/r }
	if better == record.HigherIsBetter {
		f = func(r float64) float64 { return 1 - r }
	}
	out := &sample.Estimate{Value: f(ratio.Value)}
	if ratio.Lo != nil && ratio.Hi != nil {
		lo, hi := f(*ratio.Lo), f(*ratio.Hi)
		if lo > hi {
			lo, hi = hi, lo
		}
		if !math.IsInf(lo, 0) {
			out.Lo, out.Hi = &lo, &hi
		}
	}
	return out
}

// costs gives by block the logarithm of how many times worse a is than b.
func costs(a, b []float64, better record.Direction) []float64 {
	out := make([]float64, min(len(a), len(b)))
	for i := range out {
		out[i] = math.Log(a[i]) - math.Log(b[i])
		if better == record.HigherIsBetter {
			out[i] = -out[i]
		}
	}
	return out
}

// suite adds the geometric mean over some rows.
func (o *Overhead) suite(name string, rows []int, delta float64) {
	s := Suite{Name: name}
	for _, i := range rows {
		s.Workloads = append(s.Workloads, o.Rows[i].Workload)
	}
	for e, env := range o.Environments {
		s.Cells = append(s.Cells, o.mean(e, env, rows, delta))
	}
	o.Suites = append(o.Suites, s)
}

func (o *Overhead) mean(e int, env string, rows []int, delta float64) OverheadCell {
	out := OverheadCell{Env: env}
	var sum []float64
	for n, i := range rows {
		c := o.Rows[i].Cells[e]
		if c.Overhead == nil {
			out.Missing = fmt.Sprintf("%s has none (%s), and a mean without it would be of another suite", o.Rows[i].Workload, c.Missing)
			return out
		}
		switch {
		case n == 0:
			out.Against, sum = c.Against, slices.Clone(c.cost)
		case out.Against != c.Against:
			out.Missing = "its workloads are compared with different environments of the baseline"
			return out
		default:
			sum = sum[:min(len(sum), len(c.cost))]
			for b := range sum {
				sum[b] += c.cost[b]
			}
		}
	}
	// The mean cost of a block over 1: compare does the rest.
	ones := make([]float64, len(sum))
	for b := range sum {
		sum[b], ones[b] = math.Exp(sum[b]/float64(len(rows))), 1
	}
	var q Comparison
	q, out.cost = Compare(sum, ones, delta)
	out.Blocks, out.Missing = q.Blocks, q.Missing
	if q.Missing == "" {
		out.Method, out.Verdict = q.Method, q.Verdict
		out.Overhead = OverheadOf(q.Estimate, record.LowerIsBetter)
	}
	return out
}

// judgeCells takes back what judge does in a table of overheads.
func judgeCells(cells []*OverheadCell) {
	family, verdicts := make([]sample.Pairs, len(cells)), make([]*Verdict, len(cells))
	for i, c := range cells {
		verdicts[i] = &c.Verdict
		family[i] = sample.PairsOf(stats.Known(c.cost))
	}
	Judge(family, verdicts)
}
