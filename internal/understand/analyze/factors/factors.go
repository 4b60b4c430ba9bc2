// Package factors says which factor matters how much over a matrix run: it
// decomposes the variance of a metric.
package factors

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Options choose the matrix.
type Options struct {
	// Workload is a workload's name or the id of one choice of its
	// parameters; empty takes the first.
	Workload string
	// Metric is the metric's id; empty takes the workload's first.
	Metric string
	// Engines keeps only these; empty keeps all.
	Engines []string
	// Bare leaves out, over several hosts, the interval of each host's own shares,
	// which is what takes time.
	Bare bool
}

// resamples is enough for the second digit of a 95 % interval; where there are
// so many values that it would take more than a few seconds, it is less.
const (
	resamples     = 2000
	fewResamples  = 400
	resampledMost = 1_000_000_000 // values in all resamples
)

// maxCells bounds the matrix: the work grows with its third power.
const maxCells = 1000

// Of decomposes the variance of one metric over a matrix run.
func Of(r *analyze.Result, opts Options) (*Factors, error) {
	works, err := groupOf(r, opts.Workload)
	if err != nil {
		return nil, err
	}
	first := works[0].TableOf(opts.Metric, "")
	if first == nil {
		return nil, fmt.Errorf("workload %s has no metric %q: it has %s", works[0].ID, opts.Metric, strings.Join(metrics(works[0]), ", "))
	}
	f := &Factors{Workload: works[0].Group(), Metric: first.Metric, Workloads: []string{}, Environments: []string{},
		Factors: []Factor{}, Shares: []Share{}, Seed: r.Run.Protocol.Seed}
	m, err := newMatrix(r, works, first.Metric.ID, opts.Engines)
	if err != nil {
		return nil, err
	}
	m.complete()
	f.LeftOut, f.Cells, f.Blocks = m.left, len(m.cells), len(m.blocks)
	for _, c := range m.cells {
		f.Environments, f.Workloads = append(f.Environments, c.env.ID), append(f.Workloads, c.work.ID)
	}
	f.Environments, f.Workloads = analyze.Distinct(f.Environments), analyze.Distinct(f.Workloads)
	var levels [][]int
	f.Factors, f.Fixed, levels = m.factors()
	switch {
	case len(m.cells) < 2:
		f.Missing = "fewer than two environments have values"
	case len(f.Factors) == 0:
		f.Missing = "no factor varies between the environments"
	case len(m.blocks) < 2:
		f.Missing = "fewer than two blocks have a value in every cell"
	case len(m.cells) > maxCells:
		f.Missing = fmt.Sprintf("%d cells are more than the %d that can be decomposed: choose engines or a workload", len(m.cells), maxCells)
	default:
		f.decompose(m.values(), levels, f.resamples())
	}
	return f, nil
}

// Groups names the workloads of the run, choices of parameters under one name.
func Groups(r *analyze.Result) []string {
	return analyze.Distinct(lists.Map(r.Workloads, func(w analyze.Workload) string { return w.Group() }))
}

// groupOf finds the choices of a workload's parameters.
func groupOf(r *analyze.Result, name string) ([]*analyze.Workload, error) {
	var known []string
	var out []*analyze.Workload
	for i := range r.Workloads {
		w := &r.Workloads[i]
		known = append(known, w.Group())
		if w.ID != w.Group() {
			known = append(known, w.ID)
		}
		name = cmp.Or(name, w.Group())
		if w.Group() == name {
			out = append(out, w)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if w := r.Workload(name); w != nil {
		return []*analyze.Workload{w}, nil
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("run %s has no workload", r.Run.ID)
	}
	return nil, fmt.Errorf("no workload %q in run %s: it has %s", name, r.Run.ID, strings.Join(analyze.Distinct(known), ", "))
}

func metrics(w *analyze.Workload) []string {
	var out []string
	for i := range w.Tables {
		if w.Tables[i].Measured() {
			out = append(out, w.Tables[i].Metric.ID)
		}
	}
	return out
}

// resamples is how many are enough and not too many.
func (f *Factors) resamples() int {
	return min(resamples, max(fewResamples, resampledMost/(f.Blocks*f.Cells)))
}

// decompose fills in the shares, with intervals from so many resamples.
func (f *Factors) decompose(values [][]float64, levels [][]int, boots int) {
	f.Resamples = boots
	d, ok := stats.Variance(values, levels, f.Resamples, f.Seed)
	if !ok {
		f.Missing = "all values are the same"
		return
	}
	var lost []int
	for _, t := range d.Terms {
		s := Share{Factor: f.Factors[t.A].ID, DF: t.DF, Alone: t.First, Partial: t.Partial}
		if t.B >= 0 {
			if t.FirstDF == 0 {
				continue // never crossed: there is no such interaction in the plan
			}
			s.With = f.Factors[t.B].ID
		}
		switch {
		case t.DF < t.FirstDF:
			s.Separable, s.Partial = Confounded, 0
			if t.B < 0 {
				lost = append(lost, t.A)
			} else {
				f.Pairs = shareOf(d.Pairs)
			}
		case math.Abs(t.SS-t.FirstSS) <= 1e-6*d.Total:
			s.Separable = Separate
		default:
			s.Separable = Range
		}
		if s.Separable != Confounded {
			s.Share = shareOf(t.Share)
		}
		f.Shares = append(f.Shares, s)
	}
	f.joint(values, levels, lost)
	f.Rest, f.Noise = shareOf(d.Rest), shareOf(d.Noise)
	slices.SortStableFunc(f.Shares, func(a, b Share) int { return cmp.Compare(b.size(), a.size()) })
}

// size orders shares; those that are none come last.
func (s Share) size() float64 {
	if s.Share == nil {
		return -1
	}
	return s.Share.Value
}

func shareOf(s stats.Share) *sample.Estimate { return sample.NewEstimate(s.Value, s.Interval, s.OK) }

// joint gives confounded factors the share that they have together.
func (f *Factors) joint(values [][]float64, levels [][]int, lost []int) {
	for _, group := range confounded(levels, lost) {
		names := lists.Map(group, func(k int) string { return f.Factors[k].ID })
		for i := range f.Shares {
			if s := &f.Shares[i]; s.With == "" && slices.Contains(names, s.Factor) {
				s.Among = slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == s.Factor })
			}
		}
		if s, ok := stats.Joint(values, levels, group, f.Resamples, f.Seed); ok && len(group) > 1 {
			f.Joint = append(f.Joint, JointShare{Factors: names, Share: shareOf(s)})
		}
	}
}

// confounded puts factors into groups that can be told from all others: those
// of which one says something of the other's level are of one group. Where
// that is not enough, since a factor is confounded with several at once, all
// are one group.
func confounded(levels [][]int, lost []int) [][]int {
	var groups [][]int
	for rest := slices.Clone(lost); len(rest) > 0; {
		group := []int{rest[0]}
		rest = rest[1:]
		for i := 0; i < len(group); i++ {
			rest = slices.DeleteFunc(rest, func(k int) bool {
				if stats.Aliased(levels[group[i]], levels[k]) {
					group = append(group, k)
					return true
				}
				return false
			})
		}
		slices.Sort(group)
		groups = append(groups, group)
	}
	if slices.ContainsFunc(groups, func(g []int) bool { return !stats.Apart(levels, g) }) {
		return [][]int{lost}
	}
	return groups
}

// level is what an environment has of a factor: what was asked for, else what
// its engine says of itself.
func level(e record.Environment, factor string) string {
	if l, ok := e.Levels[factor]; ok {
		return l
	}
	if l, ok := e.Facts[factor]; ok {
		return l
	}
	return ""
}
