package analyze

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/stats"
)

// Factors says what matters most: which share of the variance of a metric's
// logarithm over a matrix of environments and workload parameters comes from
// which factor, and from which two together. What blocks have in common is
// taken out, so that it is the variance within blocks.
type Factors struct {
	// Workload is the workload's name in the catalogue; Workloads are the
	// choices of its parameters that are part of the matrix.
	Workload  string        `json:"workload"`
	Workloads []string      `json:"workloads"`
	Metric    record.Metric `json:"metric"`
	// Environments are part of the matrix; Cells counts those with each
	// choice of parameters; Blocks those in which every cell has a value.
	Environments []string  `json:"environments"`
	Cells        int       `json:"cells"`
	Blocks       int       `json:"blocks"`
	LeftOut      []LeftOut `json:"left_out,omitempty"`
	// Factors are those that vary, Fixed those that do not.
	Factors []Factor          `json:"factors"`
	Fixed   map[string]string `json:"fixed,omitempty"`
	// Shares has an entry for each factor and each pair of factors, those
	// with the largest share first, then those that have none of their own.
	Shares []FactorShare `json:"shares"`
	// Joint are the shares of factors that can only be told together.
	Joint []JointShare `json:"joint,omitempty"`
	// Pairs is what all pairs do together beyond the factors: given where some
	// pair has no share of its own.
	Pairs *Estimate `json:"pairs,omitempty"`
	// Rest is between cells and of no term above: what three factors and more
	// do together, and what has no name. Noise is within one cell.
	Rest  *Estimate `json:"rest,omitempty"`
	Noise *Estimate `json:"noise,omitempty"`
	// Resamples of whole blocks give the intervals, drawn from Seed.
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	// Missing says why there are no shares, where there are none.
	Missing string `json:"missing,omitempty"`
}

// Factor is one thing that varies over the matrix.
type Factor struct {
	ID string `json:"id"`
	// Kind is "environment" or "parameter".
	Kind   string   `json:"kind"`
	Levels []string `json:"levels"`
}

// The kinds of factors.
const (
	OfEnvironment = "environment"
	OfWorkload    = "parameter"
)

// LeftOut is a cell that is not part of the matrix.
type LeftOut struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
	Reason   string `json:"reason"`
}

// Separable says how well a share can be told from those of other factors.
type Separable string

// The three answers.
const (
	// Separate: the same share whatever is counted first.
	Separate Separable = "separate"
	// Range: the share depends on what is counted first; it is between Share
	// and Alone.
	Range Separable = "range"
	// Confounded: the plan varies it only together with others.
	Confounded Separable = "confounded"
)

// FactorShare is the share of one factor (With is empty) or of what two do
// together beyond what each does.
type FactorShare struct {
	Factor string `json:"factor"`
	With   string `json:"with,omitempty"`
	DF     int    `json:"df"`
	// Separable says what Share means. Confounded factors have none.
	Separable Separable `json:"separable"`
	// Share is ω² of what the factor adds to all others of its kind, 0 to 1;
	// Alone that of what it explains with nothing else in the model. In a
	// balanced plan they are the same.
	Share *Estimate `json:"share,omitempty"`
	Alone float64   `json:"alone"`
	// Partial is partial ω²: of the variance that no other term explains.
	Partial float64 `json:"partial"`
	// Among are the factors that a confounded one can't be told from, where
	// they can be named.
	Among []string `json:"among,omitempty"`
}

// JointShare is of the main effects of several factors together.
type JointShare struct {
	Factors []string  `json:"factors"`
	Share   *Estimate `json:"share"`
}

// FactorOptions choose the matrix.
type FactorOptions struct {
	// Workload is a workload's name or the id of one choice of its
	// parameters; empty takes the first.
	Workload string
	// Metric is the metric's id; empty takes the workload's first.
	Metric string
	// Engines keeps only these; empty keeps all.
	Engines []string
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

// Factors decomposes the variance of one metric over a matrix run.
func (r *Result) Factors(opts FactorOptions) (*Factors, error) {
	works, err := r.groupOf(opts.Workload)
	if err != nil {
		return nil, err
	}
	first := works[0].first(opts.Metric)
	if first == nil {
		return nil, fmt.Errorf("workload %s has no metric %q: it has %s", works[0].ID, opts.Metric, strings.Join(works[0].metrics(), ", "))
	}
	f := &Factors{Workload: works[0].group(), Metric: first.Metric, Workloads: []string{}, Environments: []string{},
		Factors: []Factor{}, Shares: []FactorShare{}, Seed: r.Run.Protocol.Seed}
	m, err := r.matrix(works, first.Metric.ID, opts.Engines)
	if err != nil {
		return nil, err
	}
	m.complete()
	f.LeftOut, f.Cells, f.Blocks = m.left, len(m.cells), len(m.blocks)
	for _, c := range m.cells {
		f.Environments, f.Workloads = append(f.Environments, c.env.ID), append(f.Workloads, c.work.ID)
	}
	f.Environments, f.Workloads = distinct(f.Environments), distinct(f.Workloads)
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
		f.decompose(m.values(), levels)
	}
	return f, nil
}

// Groups names the workloads of the run, choices of parameters under one name.
func (r *Result) Groups() []string {
	var out []string
	for i := range r.Workloads {
		out = append(out, r.Workloads[i].group())
	}
	return distinct(out)
}

// groupOf finds the choices of a workload's parameters.
func (r *Result) groupOf(name string) ([]*Workload, error) {
	var known []string
	var out []*Workload
	for i := range r.Workloads {
		w := &r.Workloads[i]
		known = append(known, w.group())
		if w.ID != w.group() {
			known = append(known, w.ID)
		}
		if name == "" {
			name = w.group()
		}
		if w.group() == name {
			out = append(out, w)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if w := r.Workload(name); w != nil {
		return []*Workload{w}, nil
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("run %s has no workload", r.Run.ID)
	}
	return nil, fmt.Errorf("no workload %q in run %s: it has %s", name, r.Run.ID, strings.Join(distinct(known), ", "))
}

func (w *Workload) metrics() []string {
	var out []string
	for i := range w.Tables {
		if w.Tables[i].measured() {
			out = append(out, w.Tables[i].Metric.ID)
		}
	}
	return out
}

// decompose fills in the shares.
func (f *Factors) decompose(values [][]float64, levels [][]int) {
	f.Resamples = min(resamples, max(fewResamples, resampledMost/(f.Blocks*f.Cells)))
	d, ok := stats.Variance(values, levels, f.Resamples, f.Seed)
	if !ok {
		f.Missing = "all values are the same"
		return
	}
	var lost []int
	for _, t := range d.Terms {
		s := FactorShare{Factor: f.Factors[t.A].ID, DF: t.DF, Alone: t.First, Partial: t.Partial}
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
	slices.SortStableFunc(f.Shares, func(a, b FactorShare) int {
		switch x, y := a.size(), b.size(); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
}

// size orders shares; those that are none come last.
func (s FactorShare) size() float64 {
	if s.Share == nil {
		return -1
	}
	return s.Share.Value
}

func shareOf(s stats.Share) *Estimate { return estimate(s.Value, s.Interval, s.OK) }

// joint gives confounded factors the share that they have together. Factors
// are of one group where one says something of the other's level that the
// plan never varies apart.
func (f *Factors) joint(values [][]float64, levels [][]int, lost []int) {
	for len(lost) > 0 {
		group := []int{lost[0]}
		lost = lost[1:]
		for i := 0; i < len(group); i++ {
			lost = slices.DeleteFunc(lost, func(k int) bool {
				if stats.Aliased(levels[group[i]], levels[k]) {
					group = append(group, k)
					return true
				}
				return false
			})
		}
		if len(group) == 1 { // confounded with several others at once
			group = append(group, lost...)
			lost = nil
		}
		slices.Sort(group)
		var names []string
		for _, k := range group {
			names = append(names, f.Factors[k].ID)
		}
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

// sortedKeys are the keys of all the maps.
func sortedKeys(all ...map[string]string) []string {
	set := map[string]bool{}
	for _, m := range all {
		for k := range m {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
