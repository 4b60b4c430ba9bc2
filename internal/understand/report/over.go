package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sweep"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// A curve is a metric of one environment over a numeric parameter.

// overOf are the curves of a result.
type overOf struct {
	res    *analyze.Result
	sweeps []sweep.Sweep
	metric string // empty: each workload's first
}

// AnyParameter is the Over that means every numeric parameter.
const AnyParameter = "any"

// overWanted finds the curves that the options ask for.
func overWanted(res *analyze.Result, opts Options) (overOf, error) {
	all := sweep.Of(figure.Works(res), "")
	if len(all) == 0 {
		return overOf{}, fmt.Errorf("finding curves in run %s: none of its workloads has two levels of a numeric parameter", words.Clean(res.Run.ID))
	}
	o := overOf{res: res, metric: opts.Metric}
	o.sweeps = lists.Filter(all, func(s sweep.Sweep) bool {
		return opts.Over == AnyParameter || s.Parameter == opts.Over
	})
	if len(o.sweeps) == 0 {
		return o, &analyze.ChoiceError{What: "numeric parameter with two levels", Word: opts.Over, Known: sweep.Parameters(all)}
	}
	return o, nil
}

// tables are a sweep's tables of its metric, nil where a level has none.
func (o overOf) tables(s *sweep.Sweep) (m record.Metric, out []*analyze.Table) {
	id := o.metric
	for _, at := range s.At {
		w := &o.res.Workloads[at.Work]
		if t := w.First(""); id == "" && t != nil {
			id = t.Metric.ID
		}
		t := w.Table(id)
		if t != nil {
			m = t.Metric
		}
		out = append(out, t)
	}
	return m, out
}

// asked are the environments that the study asks for at any place.
func asked(res *analyze.Result, tables []*analyze.Table) []string {
	var out []string
	for _, e := range res.Environments {
		if slices.ContainsFunc(tables, func(t *analyze.Table) bool {
			return t != nil && t.Cell(e.ID) != nil && (t.Cell(e.ID).Median != nil || t.Cell(e.ID).Missing != analyze.NotAsked)
		}) {
			out = append(out, e.ID)
		}
	}
	return out
}

var overFormats = kindOf("the curves", overDocument,
	format[overOf]{"csv", asCSV(overCSV)},
	jsonOf(func(o overOf) overJSON { return overJSON{analyze.Schema, o.res.Run.ID, o.points()} }),
)

func overDocument(d *document.Document, o overOf, opts Options) {
	title := "Over " + strings.Join(sweep.Parameters(o.sweeps), ", ")
	begin(d, title, o.res)
	for i := range o.sweeps {
		s := &o.sweeps[i]
		m, tables := o.tables(s)
		if envs := asked(o.res, tables); len(envs) > 0 {
			d.Heading(2, words.Clean(s.Title())+" over "+words.Clean(s.Parameter)+": "+words.Clean(m.Title)+"; "+words.Better(m))
			d.Add(overTable(s, m, tables, envs, d, opts))
		}
	}
	d.Legend("Medians with their 95 % intervals at each level. Nothing is fitted between levels.")
}

// overTable has the levels of each environment below its name, and where the
// page is of fixed width their intervals on one axis.
func overTable(s *sweep.Sweep, m record.Metric, tables []*analyze.Table, envs []string, d *document.Document, opts Options) *document.Table {
	var cells []*analyze.Cell
	var medians []float64
	for _, t := range tables {
		for _, e := range envs {
			if t != nil && t.Cell(e) != nil && t.Cell(e).Median != nil {
				cells = append(cells, t.Cell(e))
				medians = append(medians, t.Cell(e).Median.Value)
			}
		}
	}
	u := words.UnitFor(m.Unit, medians)
	out := &document.Table{Columns: document.Columns(words.Clean(s.Parameter), "median, "+u.Name, "95 %", "n")}
	if u.Name == "" {
		out.Columns[1].Title = "median"
	}
	out.Columns[1].Right, out.Columns[1].Points, out.Columns[3].Right = true, true, true
	var drawn []*analyze.Cell // by row
	for _, e := range envs {
		out.Rows = append(out.Rows, document.Row{Cells: []document.Cell{{Text: words.Clean(e), Rest: true}}, Tone: document.Head})
		drawn = append(drawn, nil)
		for i, at := range s.At {
			var c *analyze.Cell
			if tables[i] != nil {
				c = tables[i].Cell(e)
			}
			if c == nil || c.Median == nil {
				why := "no value"
				if c != nil {
					why = words.Clean(c.Missing)
				}
				out.Rows = append(out.Rows, document.Row{Cells: []document.Cell{{Text: "  " + words.Clean(at.Level)}, {Text: "n/a: " + why, Rest: true}}})
				drawn = append(drawn, nil)
				continue
			}
			n := words.NumberOf(*c.Median, u.By, words.Full)
			out.Rows = append(out.Rows, document.Row{Cells: document.Cells("  "+words.Clean(at.Level), n.Value, n.Interval, strconv.Itoa(c.N))})
			drawn = append(drawn, c)
		}
	}
	if d.Medium != document.Text || opts.NoPlot {
		return out
	}
	a, ok := axisFor(cells, min(d.Width-out.Width()-document.Between, widePlot))
	if !ok {
		return out
	}
	out.Columns = append(out.Columns, document.Columns(a.ticks(u))...)
	for i, c := range drawn {
		if c != nil {
			out.Rows[i].Cells = append(out.Rows[i].Cells, document.Cell{Text: a.mark(c), Tone: document.Mark})
		}
	}
	return out
}

// overPoint is one point of a curve.
type overPoint struct {
	Workload  string   `json:"workload"`
	Parameter string   `json:"parameter"`
	Fixed     string   `json:"fixed,omitempty"`
	Level     string   `json:"level"`
	X         float64  `json:"x"`
	XUnit     string   `json:"x_unit,omitempty"`
	Metric    string   `json:"metric"`
	Unit      string   `json:"unit"`
	Env       string   `json:"env"`
	N         int      `json:"n"`
	Median    *float64 `json:"median,omitempty"`
	Lo        *float64 `json:"lo,omitempty"`
	Hi        *float64 `json:"hi,omitempty"`
	Missing   string   `json:"missing,omitempty"`
}

// points are all, in the order of the report, in the stored unit.
func (o overOf) points() []overPoint {
	out := []overPoint{}
	for i := range o.sweeps {
		s := &o.sweeps[i]
		m, tables := o.tables(s)
		for _, e := range asked(o.res, tables) {
			for k, at := range s.At {
				p := overPoint{Workload: s.Name, Parameter: s.Parameter, Fixed: s.Fixed, Level: at.Level, X: at.X, XUnit: s.Unit, Metric: m.ID, Unit: m.Unit, Env: e, Missing: "no value"}
				if t := tables[k]; t != nil && t.Cell(e) != nil {
					c := t.Cell(e)
					if p.N, p.Missing = c.N, c.Missing; c.Median != nil {
						p.Median, p.Lo, p.Hi = &c.Median.Value, c.Median.Lo, c.Median.Hi
					}
				}
				out = append(out, p)
			}
		}
	}
	return out
}

func overCSV(o overOf, _ Options) [][]string {
	rows := [][]string{{"run", "workload", "fixed", "parameter", "level", "x", "x_unit", "environment", "metric", "unit", "n", "median", "lo", "hi", "missing"}}
	for _, p := range o.points() {
		rows = append(rows, []string{words.Clean(o.res.Run.ID), words.Clean(p.Workload), words.Clean(p.Fixed), words.Clean(p.Parameter), words.Clean(p.Level), plain(&p.X), p.XUnit,
			words.Clean(p.Env), words.Clean(p.Metric), words.Clean(p.Unit), strconv.Itoa(p.N), plain(p.Median), plain(p.Lo), plain(p.Hi), words.Clean(p.Missing)})
	}
	return rows
}

type overJSON struct {
	Schema int         `json:"schema"`
	Run    string      `json:"run"`
	Points []overPoint `json:"points"`
}
