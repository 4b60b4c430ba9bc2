package analyze

import "slices"

// First is the table of the metric that stands for a workload where there is
// room for one only: in a verdict, a picture, a heat map. It is the first of
// those to show that an engine has a value of, since what only a baseline has
// tells nothing of an engine; and before them the one that the study sorts by,
// where that is to be shown too (of a benchmark, which has metrics of its own,
// only if it is one of these). Where no engine has a value of any, it is the
// first that anything has, then the first of all tables, in the same order. It
// is nil where the workload has no table.
//
// Against a baseline it is the first that an engine has a ratio of: a native
// process is never created, so that nothing can be held against its creation.
// "" is against none.
func (w *Workload) First(against string) *Table {
	shown, all := w.shown(), make([]*Table, len(w.Tables))
	for i := range w.Tables {
		all[i] = &w.Tables[i]
	}
	engines := func(t *Table) bool { return slices.ContainsFunc(t.Cells, anEngines) }
	whatever := func(*Table) bool { return true }
	for _, choice := range []struct {
		from []*Table
		has  func(*Table) bool
	}{
		{shown, func(t *Table) bool { return t.held(against) }}, {shown, engines}, {shown, (*Table).Measured},
		{all, engines}, {all, (*Table).Measured}, {shown, whatever}, {all, whatever},
	} {
		if i := slices.IndexFunc(choice.from, choice.has); i >= 0 {
			return choice.from[i]
		}
	}
	return nil
}

// TableOf is the table of the metric named, else of the First.
func (w *Workload) TableOf(metric, against string) *Table {
	if metric != "" {
		return w.Table(metric)
	}
	return w.First(against)
}

// shown are the tables to show, the one to sort by first where it may stand for
// the workload.
func (w *Workload) shown() []*Table {
	var out []*Table
	for _, id := range w.Show {
		if t := w.Table(id); t != nil {
			out = append(out, t)
		}
	}
	own := func(t *Table) bool { return t.Metric.From == "" } // and not of the life cycle
	i := slices.IndexFunc(out, func(t *Table) bool { return t.Metric.ID == w.Sort })
	if i > 0 && (own(out[i]) || !slices.ContainsFunc(out, own)) {
		sorted := out[i]
		copy(out[1:], out[:i])
		out[0] = sorted
	}
	return out
}

// held says whether an engine has a ratio to a baseline.
func (t *Table) held(against string) bool {
	return slices.ContainsFunc(t.Cells, func(c Cell) bool {
		q := c.Ratio(against)
		return q != nil && q.Missing == "" && anEngines(c)
	})
}

// anEngines says whether a cell has a value that is not a baseline's: that one
// is compared with itself.
func anEngines(c Cell) bool {
	return c.Median != nil && !slices.ContainsFunc(c.Ratios, func(q Ratio) bool { return q.Method == "itself" })
}
