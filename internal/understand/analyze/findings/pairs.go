package findings

import (
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/sample"
)

// pairsOf forms the pairs of a test in every run, and says what it names and
// could not be had.
func pairsOf(runs []*analyze.Result, t *record.ClaimTest) ([]pair, []analyze.ClaimLack) {
	var out []pair
	for _, r := range runs {
		f := former{r: r, t: t, choose: newChooser(r, t)}
		f.form()
		for i := range f.pairs {
			if p := &f.pairs[i]; looksOf(r) > 1 {
				p.looks, p.Level = looksOf(r), 1-sample.Alpha/float64(looksOf(r))
			}
		}
		out = append(out, f.pairs...)
	}
	return out, lacksOf(runs, t, out)
}

// pair is one comparison with what it is judged by.
type pair struct {
	analyze.ClaimPair
	sample  sample.Sample
	bounds  bounds
	fixed   bool     // each side is one number in all of 6 blocks or more: a count or a size
	counted *counted // instead of sample: a share of failures
	clear   float64  // how far inside or outside, on the scale of sample
	looks   int      // over which the level is split
	open    bool     // more blocks may decide it
	crosses bool     // it is open because its interval reaches over a bound
	half    float64  // then: half the interval's width
	room    float64  // and how far from the bounds the true value may well be
}

// claimPairs are the pairs as they are reported: where there are none, an empty list.
func claimPairs(pairs []pair) []analyze.ClaimPair {
	out := []analyze.ClaimPair{}
	return append(out, lists.Map(pairs, func(p pair) analyze.ClaimPair { return p.ClaimPair })...)
}

func side(e *record.Environment, w *analyze.Workload, t *analyze.Table) analyze.ClaimSide {
	return analyze.ClaimSide{Env: e.ID, Engine: e.Engine, Workload: w.ID, Metric: t.Metric.ID}
}

// former forms the pairs of one test in one run.
type former struct {
	r      *analyze.Result
	t      *record.ClaimTest
	choose *chooser
	pairs  []pair
}

func (f *former) form() {
	for _, w := range worksOf(f.r, &f.t.Workload) {
		if f.t.Metric == record.Failures.ID {
			f.failures(w)
			continue
		}
		t := w.Table(f.t.Metric)
		if t == nil {
			continue
		}
		for _, a := range f.choose.a {
			if c := t.Cell(a.ID); c != nil && c.Median != nil {
				f.with(w, t, a, c)
			}
		}
	}
}

// with forms the pairs whose A is this cell.
func (f *former) with(w *analyze.Workload, t *analyze.Table, a *record.Environment, c *analyze.Cell) {
	if f.t.Ratio == nil {
		if f.t.Value != nil {
			f.value(w, t, a, c)
		}
		return
	}
	works := []*analyze.Workload{w}
	if f.t.ToWorkload != nil {
		works = slices.DeleteFunc(worksOf(f.r, f.t.ToWorkload), func(o *analyze.Workload) bool { return !alike(w, o, &f.t.Workload, f.t.ToWorkload) })
	}
	metric := f.t.Metric
	if f.t.ToMetric != "" {
		metric = f.t.ToMetric
	}
	for _, o := range works {
		other := o.Table(metric)
		if other == nil || other.Metric.Unit != t.Metric.Unit {
			continue
		}
		for _, env := range f.others(a, c) {
			if b := other.Cell(env); b != nil && b != c && b.Median != nil {
				f.ratio(w, t, a, c, o, other, b)
			}
		}
	}
}

// others are the environments that A's is compared with.
func (f *former) others(a *record.Environment, c *analyze.Cell) []string {
	var out []string
	switch {
	case f.t.Baseline != "":
		if q := c.Ratio(f.t.Baseline); q != nil && q.Env != a.ID {
			out = append(out, q.Env)
		}
	case f.t.To == nil && f.t.Vary == "":
		out = append(out, a.ID)
	default:
		for _, b := range f.choose.b {
			// Of two environments that vary, each pair counts once.
			if f.choose.pairs(a, b) && (f.t.Vary == "" || place(f.r, a) < place(f.r, b)) {
				out = append(out, b.ID)
			}
		}
	}
	return out
}

func place(r *analyze.Result, e *record.Environment) int {
	return slices.IndexFunc(r.Environments, func(o record.Environment) bool { return o.ID == e.ID })
}

func (f *former) ratio(w *analyze.Workload, t *analyze.Table, a *record.Environment, c *analyze.Cell, o *analyze.Workload, other *analyze.Table, b *analyze.Cell) {
	p := pair{ClaimPair: analyze.ClaimPair{Run: f.r.Run.ID, A: side(a, w, t), Range: f.t.Ratio.Text}}
	e := f.r.Environment(b.Env)
	p.B = new(side(e, o, other))
	if a.Baseline == "" && e.Baseline == "" && a != e && f.r.Audit != nil {
		terms, _ := f.r.Audit.Compare(a.ID, e.ID)
		p.Also = audit.Keys(terms.Beyond)
	}
	d, _, _, ok := sample.LogRatios(c.ByBlock, b.ByBlock)
	p.bounds = boundsOf(f.t.Ratio, true)
	switch {
	case !ok && p.differ(f.t.Ratio, c, b):
		p.Unit = t.Metric.Unit
	case !ok:
		p.Reason = "a value is 0 or negative: it has no ratio"
	case len(d) == 0:
		p.Reason = "no block has a value of both"
	default:
		p.sample = sample.Sample{X: d, Paired: true}
		p.fixed = len(d) >= sample.MinRank && sample.Identical(c.Medians, c.Medians) && sample.Identical(b.Medians, b.Medians)
	}
	f.pairs = append(f.pairs, p)
}

// value tests A alone. Times and sizes, which are positive, are looked at by
// their logarithm, as everywhere; what can be 0 or less, as it is.
func (f *former) value(w *analyze.Workload, t *analyze.Table, a *record.Environment, c *analyze.Cell) {
	r := f.t.Value
	p := pair{ClaimPair: analyze.ClaimPair{Run: f.r.Run.ID, A: side(a, w, t), Range: r.Text, Unit: t.Metric.Unit}}
	if r.Unit != "" && r.Unit != t.Metric.Unit {
		p.Reason = "the metric is in " + t.Metric.Unit + " and the claim in " + r.Unit
		f.pairs = append(f.pairs, p)
		return
	}
	logs := (r.Min == nil || *r.Min > 0) && (r.Max == nil || *r.Max > 0) && !slices.ContainsFunc(c.Medians, func(v float64) bool { return v <= 0 })
	x := slices.Clone(c.Medians)
	for i := range x {
		if logs {
			x[i] = math.Log(x[i])
		}
	}
	p.sample, p.bounds = sample.Sample{X: x, Paired: true}, boundsOf(r, logs)
	p.fixed = len(x) >= sample.MinRank && sample.Identical(x, x)
	f.pairs = append(f.pairs, p)
}

// bounds are a range on the scale of a sample.
type bounds struct {
	record.Range
	logs bool
}

func boundsOf(r *record.Range, logs bool) bounds {
	b := bounds{Range: *r, logs: logs}
	if !logs {
		return b
	}
	scale := func(v *float64) *float64 {
		if v == nil || *v <= 0 {
			return nil // a ratio is above 0 anyway
		}
		l := math.Log(*v)
		return &l
	}
	b.Min, b.Max = scale(r.Min), scale(r.Max)
	return b
}

// back turns a number of the sample's scale into the metric's.
func (b bounds) back(v float64) float64 {
	if b.logs {
		return math.Exp(v)
	}
	return v
}

// beyond gives the bound on whose outer side v lies.
func (b bounds) beyond(v float64) (edge float64, outside bool) {
	switch {
	case b.Min != nil && (v < *b.Min || v == *b.Min && b.MinOpen):
		return *b.Min, true
	case b.Max != nil && (v > *b.Max || v == *b.Max && b.MaxOpen):
		return *b.Max, true
	}
	return 0, false
}

// distance is how far v lies from the nearest bound.
func (b bounds) distance(v float64) float64 {
	d := math.Inf(1)
	for _, edge := range []*float64{b.Min, b.Max} {
		if edge != nil {
			d = min(d, math.Abs(v-*edge))
		}
	}
	return d
}
