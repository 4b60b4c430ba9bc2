package advise

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// column is a measured criterion with its values.
type column struct {
	at    int // its place in Advice.Criteria
	work  *analyze.Workload
	table *analyze.Table
	pairs map[[2]string]*analyze.Pair
	run   string
	from  int     // the place of its run's first block among those of all runs
	worse float64 // 1 where lower is better, -1 where higher is
	share float64
	// baseline is what its ratios are to; empty for the mean of those ranked.
	baseline string
}

// logs are by block the logarithm of how bad a value is, over the blocks of
// all runs; NaN where there is none or it has no logarithm.
func (c *column) logs(env string) []float64 {
	cell := c.table.Cell(env)
	if cell == nil {
		return nil
	}
	medians := cell.ByBlock
	if len(medians) == 0 {
		return nil
	}
	out := make([]float64, c.from+len(medians))
	for b := range out {
		out[b] = math.NaN()
		if b >= c.from && medians[b-c.from] > 0 {
			out[b] = c.worse * math.Log(medians[b-c.from])
		}
	}
	return out
}

// lacks says why an environment has no value; false where it has.
func (c *column) lacks(env string) (string, bool) {
	cell := c.table.Cell(env)
	switch {
	case cell == nil:
		return "it is not in the run that has this", true
	case cell.Median == nil:
		reason := cell.Missing
		if n := c.count(env); n != nil && len(n.Classes) > 0 {
			reason += ": " + string(n.Classes[0].Class) + ", " + n.Classes[0].Text
		}
		return reason, true
	case slices.ContainsFunc(cell.ByBlock, func(v float64) bool { return v <= 0 }):
		return "a value is 0 or negative: it has no ratio", true
	}
	return "", false
}

func (c *column) count(env string) *analyze.Count {
	return analyze.Find(c.work.Counts, func(x *analyze.Count) bool { return x.Env == env })
}

// commonBaseline is the first baseline that all of them have a ratio to, or
// none.
func (c *column) commonBaseline(envs []*candidate) string {
	for _, b := range analyze.Baselines {
		if !slices.ContainsFunc(envs, func(x *candidate) bool {
			q := c.table.Cell(x.env.ID).Ratio(b)
			return q == nil || q.Missing != ""
		}) {
			return b
		}
	}
	return ""
}

// ratio is the one to the baseline, nil where there is none.
func (c *column) ratio(env string) *analyze.Ratio {
	if c.baseline == "" {
		return nil
	}
	return c.table.Cell(env).Ratio(c.baseline)
}

// versus says how many times worse a is than b, from pairs of blocks, with the
// p that is corrected for the table; nil where there is no interval.
func (c *column) versus(a, b string) (*sample.Estimate, float64) {
	p, flip := c.pairs[[2]string{a, b}], false
	if p == nil {
		p, flip = c.pairs[[2]string{b, a}], true
	}
	if p == nil || p.Lo == nil || p.Hi == nil || p.Holm == nil {
		return nil, math.NaN()
	}
	e := p.Estimate
	if flip != (c.worse < 0) {
		lo, hi := 1 / *p.Hi, 1 / *p.Lo
		e = sample.Estimate{Value: 1 / p.Value, Lo: &lo, Hi: &hi}
	}
	return &e, *p.Holm
}

// match finds what the runs have of each criterion. Every column is of one
// run, the one in which most environments have it: only there do they share
// blocks.
func (a *Advice) match(results []*analyze.Result, o Options) ([]*column, error) {
	var out []*column
	for i := range a.Profile.Criteria {
		crit := &a.Profile.Criteria[i]
		if crit.Weight == 0 {
			continue
		}
		if err := known(crit, results, o); err != nil {
			return nil, err
		}
		best, most, from := []*column(nil), 0, 0
		for _, r := range results {
			found, n, err := crit.in(r)
			if err != nil {
				return nil, err
			}
			if n > most {
				best, most = found, n
				for _, c := range found {
					c.from, c.run = from, r.Run.ID
				}
			}
			from += r.Run.Blocks
		}
		if len(best) == 0 {
			a.Criteria = append(a.Criteria, Column{Workload: crit.name(), Name: crit.Workload, Metric: record.Metric{ID: crit.Metric, Better: crit.Better},
				Better: crit.Better, Weight: crit.Weight, Why: crit.Why, Missing: "no run given measures it", Command: a.measure(crit)})
			continue
		}
		for _, c := range best {
			c.at = len(a.Criteria)
			a.Criteria = append(a.Criteria, Column{Workload: c.work.ID, Name: cmp.Or(c.work.Name, c.work.ID), Metric: c.table.Metric, Better: crit.Better,
				Weight: crit.Weight / float64(len(best)), Why: crit.Why, Run: c.run})
			out = append(out, c)
		}
	}
	return out, nil
}

// name is the workload with the parameters that are asked for.
func (c *Criterion) name() string {
	s := c.Workload
	for _, k := range slices.Sorted(maps.Keys(c.Params)) {
		s += "/" + k + "-" + strings.Join(c.Params[k], "|")
	}
	return s
}

// is says whether a workload of a run is meant.
func (c *Criterion) is(w *analyze.Workload) bool {
	if w.ID != c.Workload && w.Name != c.Workload {
		return false
	}
	for k, levels := range c.Params {
		if v, ok := w.Params[k]; !ok || !slices.Contains(levels, v) {
			return false
		}
	}
	return true
}

// in gives the criterion's columns in a run, and how many values they have.
func (c *Criterion) in(r *analyze.Result) (out []*column, values int, err error) {
	for i := range r.Workloads {
		w := &r.Workloads[i]
		if !c.is(w) {
			continue
		}
		t := w.Table(c.Metric)
		if t == nil {
			continue
		}
		if t.Metric.Better != c.Better {
			return nil, 0, fmt.Errorf("%sof %s %s is better, and the profile says better: %s", place(c.Where), c.Metric, t.Metric.Better, c.Better)
		}
		col := &column{work: w, table: t, worse: 1, pairs: map[[2]string]*analyze.Pair{}}
		if c.Better == record.HigherIsBetter {
			col.worse = -1
		}
		n := 0
		for k := range t.Cells {
			if t.Cells[k].Median != nil {
				n++
			}
		}
		for k := range t.Pairs {
			col.pairs[[2]string{t.Pairs[k].A, t.Pairs[k].B}] = &t.Pairs[k]
		}
		if n > 0 {
			out, values = append(out, col), values+n
		}
	}
	return out, values, nil
}

// known refuses a workload or a metric that nobody has heard of.
func known(c *Criterion, results []*analyze.Result, o Options) error {
	works, metrics := map[string]bool{}, map[string]bool{}
	for _, m := range record.LifeCycle {
		metrics[m.ID] = true
	}
	for name, ids := range o.Known {
		works[name] = true
		for _, id := range ids {
			metrics[id] = metrics[id] || name == c.Workload
		}
	}
	for _, r := range results {
		for i := range r.Workloads {
			w := &r.Workloads[i]
			works[w.ID] = true
			if w.Name != "" {
				works[w.Name] = true
			}
			for k := range w.Tables {
				metrics[w.Tables[k].Metric.ID] = metrics[w.Tables[k].Metric.ID] || c.is(w)
			}
		}
	}
	if !works[c.Workload] {
		return &UnknownError{Where: c.Where, What: "workload", Word: c.Workload, Known: slices.Sorted(maps.Keys(works))}
	}
	if !metrics[c.Metric] {
		maps.DeleteFunc(metrics, func(_ string, has bool) bool { return !has })
		return &UnknownError{Where: c.Where, What: "metric of " + c.Workload, Word: c.Metric, Known: slices.Sorted(maps.Keys(metrics))}
	}
	return nil
}

// measure is the command that would measure a criterion.
func (a *Advice) measure(c *Criterion) string {
	if a.Profile.Study != "" {
		return "plimsoll run " + a.Profile.Study
	}
	s := c.Workload
	if len(c.Params) > 0 {
		first := func(param string) string { return param + ": " + c.Params[param][0] }
		params := lists.Map(slices.Sorted(maps.Keys(c.Params)), first)
		s = "{name: " + c.Workload + ", parameters: {" + strings.Join(params, ", ") + "}}"
	}
	return "measure it: a study with workloads: [" + s + "]"
}

func place(where string) string {
	if where == "" {
		return ""
	}
	return where + ": "
}

// list writes words one after the other, at most so many.
func list(words []string, most int) string {
	more := ""
	if len(words) > most {
		words, more = words[:most], " …"
	}
	return strings.Join(words, ", ") + more
}

// add appends a text that is not there yet.
func add(to []string, s string) []string {
	if s == "" || slices.Contains(to, s) {
		return to
	}
	return append(to, s)
}
