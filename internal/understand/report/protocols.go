package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/analyze/sample"
)

// section is a part of a report that belongs to one workload.
type section struct {
	title string
	grid  *grid
	notes []string
}

// sections are what whole protocols show beside their metrics.
func sections(work *analyze.Workload) []section {
	var out []section
	name := clean(firstOf(work.Title, work.ID))
	if len(work.Density) > 0 {
		out = append(out, footprints(name, work.Density), crowds(name, work.Density))
	}
	if len(work.Load) > 0 {
		out = append(out, loads(name, work.Load))
	}
	return out
}

// protocols draws the sections of a workload.
func (p *page) protocols(work *analyze.Workload) {
	for _, s := range sections(work) {
		p.blank()
		p.text("head", "", s.title)
		p.parts(s.grid)
		for _, n := range s.notes {
			p.text("dim", "", n)
		}
	}
}

// cellsOf is a column in one unit: a value each, "n/a" for none.
type cellsOf struct {
	title, unit string
	values      []*sample.Estimate
	interval    bool
}

// column adds a column to a grid, and one more for the intervals.
func (g *grid) column(c cellsOf) {
	var known []float64
	for _, v := range c.values {
		if v != nil {
			known = append(known, v.Value)
		}
	}
	if len(known) == 0 {
		return
	}
	s := scaleFor(c.unit, known)
	title := c.title
	if s.unit != "" {
		title += "\n" + s.unit
	}
	var shown, intervals []string
	some := false
	for _, v := range c.values {
		if v == nil {
			shown, intervals = append(shown, "n/a"), append(intervals, "")
			continue
		}
		n := numberOf(*v, s.by, 6)
		if !c.interval {
			n = numberOf(sample.Estimate{Value: v.Value}, s.by, 6)
		}
		shown, intervals = append(shown, n.value), append(intervals, n.interval)
		some = some || n.interval != ""
	}
	g.add(title, align(shown), true)
	if c.interval && some {
		g.add("", intervals, false)
	}
}

func (g *grid) add(title string, cells []string, right bool) {
	g.cols = append(g.cols, col{title: title, right: right})
	for i := range g.rows {
		g.rows[i].cells = append(g.rows[i].cells, cells[i])
	}
}

// footprints is what one container more takes of the memory.
func footprints(name string, cells []density.Cell) section {
	s := section{title: name + ": memory that one container more takes", grid: envGrid(len(cells), func(i int) string { return cells[i].Env })}
	g := s.grid
	var ramps, reached []string
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
			s.notes = append(s.notes, fmt.Sprintf("%s ended at %s containers, %s %s: %s", nameOf(c.Env), r, what, clean(l.Class), sentence(clean(l.Text))))
		}
	}
	g.add("ramps", ramps, true)
	g.add("reached", reached, true)
	slopes := func(id string) []*sample.Estimate {
		out := make([]*sample.Estimate, len(cells))
		for i := range cells {
			if sl := cells[i].Slope(id); sl != nil {
				out[i] = &sl.Estimate
			}
		}
		return out
	}
	g.column(cellsOf{"footprint", "bytes", slopes(record.DensityFootprint), true})
	for _, part := range density.MemoryParts {
		g.column(cellsOf{part, "bytes", slopes(record.DensityPart + part), false})
	}
	return section{s.title, g, append(methods(cells), s.notes...)}
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
		{"points", "of the points of one ramp (Theil and Sen), which are taken for independent"},
	} {
		if seen[m.method] {
			parts = append(parts, m.text)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{"Slopes over the number that run; brackets: 95 % intervals " + strings.Join(parts, "; ") +
		". footprint is payload, monitor, daemon and kernel together; host is measured apart, of the whole machine."}
}

// quarters are where the curves of start and stop are shown.
var quarters = []float64{0, 0.25, 0.5, 0.75, 1}

// crowds shows times against the number that run.
func crowds(name string, cells []density.Cell) section {
	g := envGrid(2*len(cells), func(i int) string { return cells[i/2].Env + []string{", start", ", stop"}[i%2] })
	curve := func(i int) *density.Points {
		if i%2 == 0 {
			return cells[i/2].Starts
		}
		return cells[i/2].Stops
	}
	most := 0.0
	for i := range g.rows {
		if p := curve(i); p != nil {
			most = max(most, p.N[0], p.N[len(p.N)-1])
		}
	}
	for _, q := range quarters {
		n := float64(int(q * most))
		values := make([]*sample.Estimate, len(g.rows))
		for i := range values {
			if y, ok := curve(i).Near(n); ok {
				values[i] = &sample.Estimate{Value: y}
			}
		}
		g.column(cellsOf{fmt.Sprintf("beside\n%.0f", n), "ns", values, false})
	}
	slopes := make([]*sample.Estimate, len(g.rows))
	for i := range slopes {
		id := []string{record.DensityStartSlope, record.DensityStopSlope}[i%2]
		if sl := cells[i/2].Slope(id); sl != nil {
			slopes[i] = &sl.Estimate
		}
	}
	g.column(cellsOf{"each\none more", "ns", slopes, true})
	return section{title: name + ": start (request to ready) and stop (to removed) beside so many others", grid: g}
}

func envGrid(n int, name func(int) string) *grid {
	g := &grid{cols: []col{{title: "environment"}}}
	for i := range n {
		g.rows = append(g.rows, row{cells: []string{nameOf(name(i))}})
	}
	return g
}

// loads is what each environment carries.
func loads(name string, cells []load.Cell) section {
	s := section{title: name + ": arrivals at intended times, whatever became of the earlier ones", grid: envGrid(len(cells), func(i int) string { return cells[i].Env })}
	g := s.grid
	number := func(title, unit string, of func(*load.Cell) (float64, bool)) {
		values := make([]*sample.Estimate, len(cells))
		for i := range cells {
			if v, ok := of(&cells[i]); ok {
				values[i] = &sample.Estimate{Value: v}
			}
		}
		g.column(cellsOf{title, unit, values, false})
	}
	count := func(title string, of func(*load.Cell) int) {
		var out []string
		for i := range cells {
			out = append(out, fmt.Sprint(of(&cells[i])))
		}
		g.add(title, out, true)
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
			for _, have := range c.Latency {
				if have.Name == q.Name {
					return have.Value, true
				}
			}
			return 0, false
		})
	}
	s.notes = append(s.notes, "Latency counts from the intended start to the payload's first byte, over all arrivals; what failed counts as later than all others, and a quantile stands where the arrivals carry it.")
	for _, c := range cells {
		if c.Search {
			s.notes = append(s.notes, "Of a search: the highest rate lies between holds and fails; the latencies are of the rate that held; arrivals are those of all rates tried.")
			break
		}
	}
	for _, c := range cells {
		for _, l := range c.Limits {
			s.notes = append(s.notes, fmt.Sprintf("%s, %s: %s", nameOf(c.Env), clean(l.Class), sentence(clean(l.Text))))
		}
		for _, f := range c.Classes {
			s.notes = append(s.notes, fmt.Sprintf("%s: %s failed, %s.", nameOf(c.Env), Plural(f.N, "container"), clean(string(f.Class))))
		}
	}
	return s
}
