package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// section is a part of a report that belongs to one workload.
type section struct {
	title string
	table *document.Table
	notes []string
}

// sections are what whole protocols show beside their metrics.
func sections(work *analyze.Workload) []section {
	var out []section
	name := words.Clean(cmp.Or(work.Title, work.ID))
	if len(work.Density) > 0 {
		out = append(out, footprints(name, work.Density), crowds(name, work.Density))
	}
	if len(work.Load) > 0 {
		out = append(out, loads(name, work.Load))
	}
	return out
}

// cellsOf is a column in one unit: a value each, "n/a" for none.
type cellsOf struct {
	title, unit string
	values      []*sample.Estimate
	interval    bool
}

// addTo adds a column to a table, and one more for the intervals.
func (c cellsOf) addTo(t *document.Table) {
	var known []float64
	for _, v := range c.values {
		if v != nil {
			known = append(known, v.Value)
		}
	}
	if len(known) == 0 {
		return
	}
	u := words.UnitFor(c.unit, known)
	title := c.title
	if u.Name != "" {
		title += "\n" + u.Name
	}
	var shown, intervals []string
	some := false
	for _, v := range c.values {
		if v == nil {
			shown, intervals = append(shown, "n/a"), append(intervals, "")
			continue
		}
		n := words.NumberOf(*v, u.By, words.Full)
		if !c.interval {
			n = words.NumberOf(sample.Estimate{Value: v.Value}, u.By, words.Full)
		}
		shown, intervals = append(shown, n.Value), append(intervals, n.Interval)
		some = some || n.Interval != ""
	}
	t.Column(document.Column{Title: title, Right: true, Points: true}, document.Cells(shown...))
	if c.interval && some {
		t.Column(document.Column{}, document.Cells(intervals...))
	}
}

// footprints is what one container more takes of the memory.
func footprints(name string, cells []density.Cell) section {
	s := section{title: name + ": memory that one container more takes", table: envTable(len(cells), func(i int) string { return cells[i].Env })}
	t := s.table
	var ramps, reached []string
	short := shortNames(lists.Map(cells, func(c density.Cell) string { return c.Env }))
	for _, c := range cells {
		ramps = append(ramps, fmt.Sprint(c.Ramps))
		r := fmt.Sprint(c.Reached)
		if c.Asked > c.Reached {
			r += fmt.Sprintf(" of %d", c.Asked)
		}
		reached = append(reached, r)
		for _, l := range c.Limits {
			what := "limit"
			if l.Guard {
				what = "guard"
			}
			s.notes = append(s.notes, fmt.Sprintf("%s ended at %s containers, %s %s: %s", short(c.Env), r, what, words.Clean(l.Class), words.Sentence(words.Clean(l.Text))))
		}
	}
	t.Column(document.Column{Title: "ramps", Right: true}, document.Cells(ramps...))
	t.Column(document.Column{Title: "reached", Right: true}, document.Cells(reached...))
	slopes := func(id string) []*sample.Estimate {
		out := make([]*sample.Estimate, len(cells))
		for i := range cells {
			if sl := cells[i].Slope(id); sl != nil {
				out[i] = &sl.Estimate
			}
		}
		return out
	}
	cellsOf{"footprint", "bytes", slopes(record.DensityFootprint), true}.addTo(t)
	for _, part := range density.MemoryParts {
		cellsOf{part, "bytes", slopes(record.DensityPart + part), false}.addTo(t)
	}
	return section{s.title, t, append(methods(cells), s.notes...)}
}

// methods says what the intervals come from.
func methods(cells []density.Cell) []string {
	seen := map[string]bool{}
	for i := range cells {
		for _, sl := range cells[i].Slopes {
			seen[sl.Method] = true
		}
	}
	var parts []string
	for _, m := range []struct{ method, text string }{
		{"ramps", "of the median over ramps"},
		{"t", "of the mean of few ramps (preliminary)"},
		{"points", "of the points of one ramp (Theil and Sen), which are assumed independent"},
	} {
		if seen[m.method] {
			parts = append(parts, m.text)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	shown := func(part string) bool {
		return slices.ContainsFunc(cells, func(c density.Cell) bool { return c.Slope(record.DensityPart+part) != nil })
	}
	text := "footprint is payload, monitor, daemon and kernel together"
	switch host, free := shown("host"), shown("free"); {
	case host && free:
		text += "; host and free are measured apart, of the whole machine"
	case host:
		text += "; host is measured apart, of the whole machine"
	}
	if shown("told") {
		text += "; told is what the engine's own command says at the top"
	}
	return []string{"Slopes over the number that run; brackets: 95 % intervals " + strings.Join(parts, "; ") + ". " + text + "."}
}

// quarters are where the curves of start and stop are shown.
var quarters = []float64{0, 0.25, 0.5, 0.75, 1}

// crowds shows times against the number that run.
func crowds(name string, cells []density.Cell) section {
	t := envTable(2*len(cells), func(i int) string { return cells[i/2].Env + []string{", start", ", stop"}[i%2] })
	curve := func(i int) *density.Points {
		if i%2 == 0 {
			return cells[i/2].Starts
		}
		return cells[i/2].Stops
	}
	most := 0.0
	for i := range t.Rows {
		if p := curve(i); p != nil {
			most = max(most, p.N[0], p.N[len(p.N)-1])
		}
	}
	for _, q := range quarters {
		n := float64(int(q * most))
		values := make([]*sample.Estimate, len(t.Rows))
		for i := range values {
			if y, ok := curve(i).Near(n); ok {
				values[i] = &sample.Estimate{Value: y}
			}
		}
		cellsOf{fmt.Sprintf("with\n%.0f", n), "ns", values, false}.addTo(t)
	}
	slopes := make([]*sample.Estimate, len(t.Rows))
	for i := range slopes {
		id := []string{record.DensityStartSlope, record.DensityStopSlope}[i%2]
		if sl := cells[i/2].Slope(id); sl != nil {
			slopes[i] = &sl.Estimate
		}
	}
	cellsOf{"each\none more", "ns", slopes, true}.addTo(t)
	return section{title: name + ": start (request to ready) and stop (to removed) with so many others running", table: t}
}

func envTable(n int, name func(int) string) *document.Table {
	t := &document.Table{Columns: document.Columns("environment"), Parts: true}
	envs := make([]string, n)
	for i := range envs {
		envs[i] = name(i)
	}
	for _, row := range words.Rows(envs) {
		t.Row(row)
	}
	return t
}

// loads is what each environment carries.
func loads(name string, cells []load.Cell) section {
	s := section{title: name + ": arrivals at intended times, whatever became of the earlier ones", table: envTable(len(cells), func(i int) string { return cells[i].Env })}
	t := s.table
	number := func(title, unit string, of func(*load.Cell) (float64, bool)) {
		values := make([]*sample.Estimate, len(cells))
		for i := range cells {
			if v, ok := of(&cells[i]); ok {
				values[i] = &sample.Estimate{Value: v}
			}
		}
		cellsOf{title, unit, values, false}.addTo(t)
	}
	count := func(title string, of func(*load.Cell) int) {
		out := lists.Map(cells, func(c load.Cell) string { return fmt.Sprint(of(&c)) })
		t.Column(document.Column{Title: title, Right: true}, document.Cells(out...))
	}
	number("holds", "1/s", func(c *load.Cell) (float64, bool) { return c.Holds, c.Search })
	number("fails", "1/s", func(c *load.Cell) (float64, bool) { return c.Fails, c.Search && c.Fails > 0 })
	number("offered", "1/s", func(c *load.Cell) (float64, bool) { return c.Offered, !c.Search })
	number("achieved", "1/s", func(c *load.Cell) (float64, bool) { return c.Achieved, !c.Search })
	count("arrivals", func(c *load.Cell) int { return c.Arrivals })
	count("failed", func(c *load.Cell) int { return c.Failed })
	count("refused", func(c *load.Cell) int { return c.Refused })
	count("in\nflight", func(c *load.Cell) int { return c.MaxInFlight })
	for _, q := range record.LoadQuantiles {
		number("latency\n"+q.Name, "ns", func(c *load.Cell) (float64, bool) {
			if have := analyze.Find(c.Latency, func(x *load.Quantile) bool { return x.Name == q.Name }); have != nil {
				return have.Value, true
			}
			return 0, false
		})
	}
	s.notes = append(s.notes, "Latency counts from the intended start to the payload's first byte, over all arrivals; what failed counts as later than all others, and a quantile is given where there are enough arrivals for it.")
	if slices.ContainsFunc(cells, func(c load.Cell) bool { return c.Search }) {
		s.notes = append(s.notes, "Of a search: the highest rate lies between holds and fails; the latencies are of the rate that held; arrivals are those of all rates tried.")
	}
	short := shortNames(lists.Map(cells, func(c load.Cell) string { return c.Env }))
	for _, c := range cells {
		for _, l := range c.Limits {
			s.notes = append(s.notes, fmt.Sprintf("%s, %s: %s", short(c.Env), words.Clean(l.Class), words.Sentence(words.Clean(l.Text))))
		}
		for _, f := range c.Classes {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s failed, %s.", short(c.Env), words.Plural(f.N, "container"), words.Clean(string(f.Class))))
		}
	}
	return s
}
