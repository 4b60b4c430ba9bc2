package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// pickWork is the workload to draw: the one asked for, else the first that has
// what the chart draws.
func pickWork(d *view.Data, o Options, has func(*view.Work) bool, what string) (*view.Work, error) {
	var known []string
	for i := range d.Works {
		w := &d.Works[i]
		known = append(known, w.ID)
		if o.Workload == "" && has(w) || w.ID == o.Workload {
			if !has(w) {
				return nil, noData("workload %s has no %s", w.ID, what)
			}
			return w, nil
		}
	}
	if o.Workload == "" {
		return nil, noData("this run has no %s", what)
	}
	return nil, fmt.Errorf("no workload %q: this run has %s", o.Workload, strings.Join(known, ", "))
}

// pickTable is the metric to draw.
func pickTable(d *view.Data, o Options) (*view.Work, *view.Table, error) {
	has := func(w *view.Work) bool { return tableOf(w, o.Metric) != nil }
	if o.Metric != "" && o.Workload == "" && !slices.ContainsFunc(d.Works, func(w view.Work) bool { return has(&w) }) {
		return nil, nil, unknownMetric(d.Works, o.Metric)
	}
	w, err := pickWork(d, o, func(w *view.Work) bool { return has(w) || o.Workload != "" }, "numbers")
	if err != nil {
		return nil, nil, err
	}
	t := tableOf(w, o.Metric)
	switch {
	case t == nil && o.Metric != "":
		return nil, nil, unknownMetric([]view.Work{*w}, o.Metric)
	case t == nil:
		return nil, nil, noData("workload %s has no numbers", w.ID)
	}
	return w, t, nil
}

func unknownMetric(works []view.Work, id string) error {
	var known []string
	for _, w := range works {
		for _, t := range w.Tables {
			known = analyze.Also(known, t.Metric.ID)
		}
	}
	return fmt.Errorf("no metric %q: there are %s", id, strings.Join(known, ", "))
}

// tableOf finds a metric's table; without an id that of the metric which stands
// for the workload.
func tableOf(w *view.Work, id string) *view.Table {
	if id == "" {
		return w.FirstTable()
	}
	return w.Table(id)
}

// rowsOf are the environments of a table in the order of a report: ranked, then
// those without a value, but for those that nobody asked for.
func rowsOf(w *view.Work, t *view.Table) []int {
	by := t
	if s := w.Table(w.Sort); s != nil {
		by = s
	}
	var out []int
	for _, e := range slices.Concat(by.Ranking, t.Ranking) {
		if view.At(t.Median, e) != nil && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	for e := range t.Median {
		if !slices.Contains(out, e) && view.At(t.Missing, e) != analyze.NotAsked {
			out = append(out, e)
		}
	}
	return out
}

// reasons gathers who lacks what, each reason once.
type reasons struct {
	who analyze.Grouped[string, string]
}

func (r *reasons) add(who, why string) {
	r.who.Add(cmp.Or(words.Clean(why), "nobody knows why"), who)
}

// lines has one for each reason, with the first who have it.
func (r *reasons) lines(most int) []string {
	var out []string
	for why, list := range r.who.All() {
		text := strings.Join(list[:min(len(list), most)], ", ")
		if n := len(list) - most; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		out = append(out, "n/a: "+why+" ("+text+")")
	}
	return out
}

// against finds the ratios to a baseline, the first where none is named.
func against(t *view.Table, baseline string) *view.Against {
	return analyze.Find(t.Against, func(x *view.Against) bool { return baseline == "" || x.Baseline == baseline })
}

// failures are how many of an environment's trials failed.
func failures(w *view.Work, env string) int {
	for _, c := range w.Counts {
		if c.Env == env {
			return c.Failed
		}
	}
	return 0
}

// missing is why an environment has no value.
func missing(t *view.Table, env int) string {
	if why := words.Clean(view.At(t.Missing, env)); why != "" {
		return "n/a: " + why
	}
	return "n/a"
}

func metricName(m record.Metric) string { return capital(view.MetricLabel(m)) }

func capital(s string) string {
	r := []rune(s)
	if len(r) > 0 {
		r[0] = []rune(strings.ToUpper(string(r[:1])))[0]
	}
	return string(r)
}

// what is the sentence that says what a metric is, with its workload's id.
func what(w *view.Work, m record.Metric) string {
	s := "workload " + words.Clean(w.ID)
	if t := words.Clean(m.What); t != "" {
		s = capital(strings.TrimSuffix(t, ".")) + "; " + s
	}
	return s
}
