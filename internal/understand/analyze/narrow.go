package analyze

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/load"
)

// Choice is a part of a result: what is empty is all. Baselines stay, since they are
// what the others are held against.
type Choice struct {
	Workloads []string // ids, or names of the catalogue, which take all parameters
	Envs      []string // ids, or as a screen abbreviates them
	Engines   []string
}

// Empty says that nothing was chosen.
func (c Choice) Empty() bool { return len(c.Workloads)+len(c.Envs)+len(c.Engines) == 0 }

// Narrow leaves of a result what is chosen. No number changes: what was corrected
// over all pairs stays so, since a family that is chosen after a look at the numbers
// would promise too much. Tables of papers and claims, which are about the whole
// study, are left out. An error is a *ChoiceError.
func (r *Result) Narrow(c Choice) (*Result, error) {
	if c.Empty() {
		return r, nil
	}
	c.Envs = r.Whole(c.Envs)
	if err := c.known(r); err != nil {
		return nil, err
	}
	keep := map[string]bool{}
	for _, e := range r.Environments {
		keep[e.ID] = e.Baseline != "" || c.env(&e)
	}
	out := *r
	out.Papers, out.Findings, out.Features, out.Claims, out.Ablations, out.Charges, out.Steadiness = nil, nil, nil, nil, nil, nil, nil
	out.Environments = filter(r.Environments, func(e record.Environment) bool { return keep[e.ID] })
	works := map[string]bool{}
	out.Workloads = nil
	for _, w := range r.Workloads {
		if len(c.Workloads) == 0 || slices.Contains(c.Workloads, w.ID) || slices.Contains(c.Workloads, w.Name) {
			works[w.ID] = true
			out.Workloads = append(out.Workloads, w.narrow(keep))
		}
	}
	out.Excluded = filter(r.Excluded, func(x record.Excluded) bool {
		e := record.Environment{ID: x.ID, Engine: x.Engine}
		return (keep[x.ID] || c.env(&e)) && (x.Workload == "" || works[x.Workload])
	})
	out.Remarks = filter(r.Remarks, func(m record.Remark) bool {
		return (m.Env == "" || keep[m.Env]) && (m.Workload == "" || works[m.Workload])
	})
	if r.Audit != nil {
		a := *r.Audit
		a.Environments = filter(a.Environments, func(e audit.Environment) bool { return keep[e.Env] })
		a.Pairs = filter(a.Pairs, func(p audit.Pair) bool { return keep[p.A] && keep[p.B] })
		out.Audit = &a
	}
	out.Overhead = nil
	for _, o := range r.Overhead {
		o.Suites = nil
		o.Environments = filter(o.Environments, func(e string) bool { return keep[e] })
		o.Rows = filter(o.Rows, func(x OverheadRow) bool { return works[x.Workload] })
		for i := range o.Rows {
			o.Rows[i].Cells = filter(o.Rows[i].Cells, func(x OverheadCell) bool { return keep[x.Env] })
		}
		if len(o.Rows) > 0 && len(o.Environments) > 0 {
			out.Overhead = append(out.Overhead, o)
		}
	}
	return &out, nil
}

// env says whether an environment is chosen by its id and its engine.
func (c Choice) env(e *record.Environment) bool {
	return (len(c.Envs) == 0 || slices.Contains(c.Envs, e.ID)) && (len(c.Engines) == 0 || slices.Contains(c.Engines, e.Engine))
}

// known refuses a word that the result does not have.
func (c Choice) known(r *Result) error {
	var works, envs, engines []string
	add := func(to *[]string, s string) {
		if s != "" && !slices.Contains(*to, s) {
			*to = append(*to, s)
		}
	}
	for _, w := range r.Workloads {
		add(&works, w.ID)
	}
	for _, w := range r.Workloads {
		add(&works, w.Name)
	}
	for _, e := range r.Environments {
		add(&envs, e.ID)
		add(&engines, e.Engine)
	}
	for _, x := range []struct {
		what         string
		asked, known []string
	}{{"workload", c.Workloads, works}, {"environment", c.Envs, envs}, {"engine", c.Engines, engines}} {
		for _, word := range x.asked {
			if !slices.Contains(x.known, word) {
				return &ChoiceError{What: x.what, Word: word, Known: x.known}
			}
		}
	}
	return nil
}

// narrow leaves these environments of a workload.
func (w Workload) narrow(keep map[string]bool) Workload {
	w.Counts = filter(w.Counts, func(c Count) bool { return keep[c.Env] })
	tables := w.Tables
	w.Tables = make([]Table, len(tables))
	for i, t := range tables {
		t.Cells = filter(t.Cells, func(c Cell) bool { return keep[c.Env] })
		t.Ranking = filter(t.Ranking, func(e string) bool { return keep[e] })
		t.Pairs = filter(t.Pairs, func(p Pair) bool { return keep[p.A] && keep[p.B] })
		w.Tables[i] = t
	}
	w.Density = filter(w.Density, func(c density.Cell) bool { return keep[c.Env] })
	w.Load = filter(w.Load, func(c load.Cell) bool { return keep[c.Env] })
	return w
}

// filter is a new slice of what stays; it is never nil.
func filter[T any](all []T, stays func(T) bool) []T {
	out := make([]T, 0, len(all))
	for _, x := range all {
		if stays(x) {
			out = append(out, x)
		}
	}
	return out
}
