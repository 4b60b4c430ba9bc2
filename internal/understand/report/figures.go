package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// figuresOf are the published figures with a run's numbers.
type figuresOf struct {
	res  *analyze.Result
	list []figure.Figure
}

var figuresFormats = kindOf("the figures", figuresDocument,
	format[figuresOf]{"csv", asCSV(figuresCSV)},
	jsonOf(func(o figuresOf) figuresJSON { return figuresJSON{analyze.Schema, o.res.Run.ID, o.list} }),
)

type figuresJSON struct {
	Schema  int             `json:"schema"`
	Run     string          `json:"run"`
	Figures []figure.Figure `json:"figures"`
}

// Figures writes published figures with the run's numbers beside theirs.
func Figures(w io.Writer, name string, res *analyze.Result, list []figure.Figure, opts Options) error {
	return figuresFormats.Write(w, name, figuresOf{res, list}, opts)
}

func figuresDocument(d *document.Document, o figuresOf, opts Options) {
	begin(d, "Figures", o.res)
	var undrawn []document.Item
	for i := range o.list {
		f := &o.list[i]
		title := words.Clean(f.Title) + " (" + words.Clean(f.Shows) + ")"
		switch {
		case f.Missing != "":
			undrawn = append(undrawn, document.Item{Text: document.Of(document.Strong, words.Clean(f.Name), ": "+title+": "+words.Sentence(words.Clean(f.Missing)))})
			continue
		case len(f.Panels) == 0:
			undrawn = append(undrawn, document.Item{Text: document.Of(document.Strong, words.Clean(f.Name), ": "+title+": there is nothing of it.")})
			continue
		}
		for k := range f.Panels {
			p := &f.Panels[k]
			u := figureUnit(p)
			head := title
			if len(f.Panels) > 1 || f.Kind != figures.Bars {
				head += ": " + words.Clean(p.Title)
			}
			if u.Name != "" {
				head += ", " + words.Clean(u.Name)
			}
			d.Heading(2, head)
			d.Add(figureTable(f, p, u, d, opts))
		}
		switch {
		case f.Kind == figures.Series:
			d.Legend("Medians over the trials at each time after the request, with their quartiles where there are more than two.")
		case f.Part == figures.Course:
			d.Legend("Of each stretch of time the most that was taken, so that what a start takes only while it lasts is seen; of several ramps the median.")
		case f.Kind == figures.Ramps && !f.Amount():
			d.Legend("Medians over the containers that came next to each other, with their 95 % intervals where 6 or more did.")
		}
		if f.Note != "" {
			d.Legend(words.Sentence(words.Clean(f.Note)))
		}
	}
	if len(undrawn) > 0 {
		d.Heading(2, "Not drawn here")
		d.List("   ", undrawn)
	}
	d.Gap(document.Text)
	d.Legend("○ and values in parentheses are published, measured on other machines; ● was measured here, a median with its 95 % interval. Compare ratios and directions only.")
}

// figureUnit is one for all values of a panel.
func figureUnit(p *figure.Panel) words.Unit {
	all := lists.Map(p.Bars, func(b figure.Bar) float64 { return b.Theirs.Value })
	for _, l := range p.Lines {
		for _, q := range l.Points {
			if q.Y != nil {
				all = append(all, q.Y.Value)
			}
		}
	}
	for _, b := range p.Boxes {
		all = append(all, b.Values...)
		if b.Box != nil {
			all = append(all, b.Box.Median)
		}
	}
	if len(p.Bars) > 0 {
		return words.Unit{Name: p.Unit, By: 1} // the paper's
	}
	return words.UnitFor(p.Unit, all)
}

// figureTable has a row for each mark of a panel.
func figureTable(f *figure.Figure, p *figure.Panel, u words.Unit, d *document.Document, opts Options) *document.Table {
	var t *document.Table
	var marks []figureMarks
	switch f.Kind {
	case figures.Bars:
		t, marks = barTable(p)
	case figures.Boxes:
		t, marks = boxTable(p, u)
	case figures.Ramps:
		if f.Part == figures.Course {
			together := *p
			together.Lines = lists.Map(p.Lines, highest)
			t, marks = lineTable(&together, u)
			break
		}
		if f.Amount() { // it grows by what each adds, so that neighbours are not alike
			t, marks = lineTable(p, u)
			break
		}
		together := *p
		together.Lines = lists.Map(p.Lines, neighbours)
		t, marks = lineTable(&together, u)
	default:
		if t, marks = lineTable(p, u); f.Kind == figures.Series {
			t.Columns[3].Title = "quartiles"
		}
	}
	if d.Medium == document.Text && !opts.NoPlot {
		addMarks(t, marks, min(d.Width-t.Width()-document.Between, widePlot), u)
	}
	return t
}

func barTable(p *figure.Panel) (*document.Table, []figureMarks) {
	t := &document.Table{Columns: document.Columns("", "published", "here", "95 %", "n")}
	t.Columns[1].Right, t.Columns[2].Right, t.Columns[4].Right = true, true, true
	var marks []figureMarks
	for i := range p.Bars {
		b := &p.Bars[i]
		cited := short3(b.Theirs.Value)
		cells := document.Cells(words.Clean(b.Label), "("+cited+")")
		cells[1].Slanted = true
		if b.Here == nil {
			t.Rows = append(t.Rows, document.Row{Cells: append(cells, document.Cells("–", "", "")...)})
		} else {
			n := words.NumberOf(*b.Here, 1, 4)
			t.Rows = append(t.Rows, document.Row{Cells: append(cells, document.Cells(n.Value, n.Interval, strconv.Itoa(b.N))...)})
		}
		marks = append(marks, figureMarks{theirs: &b.Theirs, ours: b.Here})
	}
	return t, marks
}

// mostPoints bounds the lines of a text table that one curve has.
const mostPoints = 12

func lineTable(p *figure.Panel, u words.Unit) (*document.Table, []figureMarks) {
	t := &document.Table{Columns: document.Columns(words.Clean(p.Over), "published", "here", "95 %", "n")}
	t.Columns[1].Right, t.Columns[2].Right, t.Columns[4].Right = true, true, true
	var marks []figureMarks
	for i := range p.Lines {
		l := &p.Lines[i]
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Text: words.Clean(l.Label), Rest: true}}, Tone: document.Head})
		marks = append(marks, figureMarks{})
		step := (len(l.Points) + mostPoints - 1) / mostPoints
		level := l.Published && len(l.Points) == 2 && l.Points[0].Y.Value == l.Points[1].Y.Value && l.Points[0].Level == ""
		for k := 0; k < len(l.Points); k += step {
			q := &l.Points[k]
			at := q.Level
			if level && k > 0 {
				break
			}
			if level {
				at = "all"
			} else if at == "" {
				at = words.Short(q.X)
			}
			row := document.Cells("  "+words.Clean(at), "", "n/a", "", "")
			m := figureMarks{}
			switch {
			case q.Y == nil:
			case l.Published:
				m.theirs = q.Y
				row[1].Text, row[2].Text = "("+words.NumberOf(*q.Y, u.By, 4).Value+")", ""
			default:
				m.ours = q.Y
				n := words.NumberOf(*q.Y, u.By, 4)
				row[2].Text, row[3].Text = n.Value, n.Interval
				if q.N > 0 {
					row[4].Text = strconv.Itoa(q.N)
				}
			}
			t.Rows = append(t.Rows, document.Row{Cells: row})
			marks = append(marks, m)
		}
	}
	return t, marks
}

// neighbours takes the points of a long line together, so that a table has few of
// them, and each has an interval where it can.
func neighbours(l figure.Line) figure.Line {
	step := (len(l.Points) + mostPoints - 1) / mostPoints
	if l.Published || step < 2 || slices.ContainsFunc(l.Points, func(q figure.Point) bool { return q.Y == nil || q.Y.Lo != nil }) {
		return l
	}
	out := l
	out.Points = nil
	for some := range slices.Chunk(l.Points, step) {
		values := stats.Sorted(lists.Map(some, func(q figure.Point) float64 { return q.Y.Value }))
		y := sample.Estimate{Value: stats.Median(values)}
		if i, ok := stats.MedianInterval(values, stats.Level); ok {
			y.Lo, y.Hi = &i.Lo, &i.Hi
		}
		first, end := some[0].X, some[len(some)-1].X
		q := figure.Point{X: (first + end) / 2, Level: words.Short(first), Y: &y, N: len(values)}
		if end > first {
			q.Level += " to " + words.Short(end)
		}
		out.Points = append(out.Points, q)
	}
	return out
}

// highest takes the points of a long line together too, of which the highest stays.
func highest(l figure.Line) figure.Line {
	step := (len(l.Points) + mostPoints - 1) / mostPoints
	if step < 2 {
		return l
	}
	out := l
	out.Points = nil
	for some := range slices.Chunk(l.Points, step) {
		q := slices.MaxFunc(some, func(a, b figure.Point) int { return cmp.Compare(a.Y.Value, b.Y.Value) })
		q.Level = words.Short(some[0].X) + " to " + words.Short(some[len(some)-1].X)
		out.Points = append(out.Points, q)
	}
	return out
}

func boxTable(p *figure.Panel, u words.Unit) (*document.Table, []figureMarks) {
	t := &document.Table{Columns: document.Columns("", "low", "quartile", "median", "quartile", "high", "n")}
	document.Right(t.Columns[1:])
	var marks []figureMarks
	const room = 30
	names := words.Apart(lists.Map(p.Boxes, func(b figure.Box) string { return words.Clean(b.Label) }), room, room)
	for i := range p.Boxes {
		b, name := &p.Boxes[i], names[i]
		amount := func(v float64) string {
			s := words.NumberOf(sample.Estimate{Value: v}, u.By, 4).Value
			if b.Published {
				return "(" + s + ")"
			}
			return s
		}
		switch {
		case b.Box != nil:
			t.Row(name, amount(b.Box.Low), amount(b.Box.Q1), amount(b.Box.Median), amount(b.Box.Q3), amount(b.Box.High), strconv.Itoa(b.N))
		case len(b.Values) > 0:
			t.Row(name, amount(b.Values[0]), "", amount(stats.Median(b.Values)), "", amount(b.Values[len(b.Values)-1]), strconv.Itoa(b.N))
		default:
			t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Text: name}, {Text: "n/a: " + words.Clean(b.Missing), Rest: true}}})
		}
		for k := range t.Rows[i].Cells {
			t.Rows[i].Cells[k].Slanted = b.Published
		}
		marks = append(marks, figureMarks{box: b})
	}
	return t, marks
}

// figureMarks is what one row has on the axis.
type figureMarks struct {
	theirs, ours *sample.Estimate
	box          *figure.Box
}

// values are all that must be on the axis.
func (m figureMarks) values() []float64 {
	var out []float64
	for _, e := range []*sample.Estimate{m.theirs, m.ours} {
		if e != nil {
			out = append(out, ends(&analyze.Cell{Median: e})...)
		}
	}
	if m.box != nil {
		if out = append(out, m.box.Values...); m.box.Box != nil {
			out = append(append(out, m.box.Box.Low, m.box.Box.High), m.box.Box.Out...)
		}
	}
	return out
}

// addMarks draws the rows on one axis, where there is room: a logarithmic one, or
// where not all is positive a linear one.
func addMarks(t *document.Table, marks []figureMarks, room int, u words.Unit) {
	var cells []*analyze.Cell
	for _, m := range marks {
		for _, v := range m.values() {
			cells = append(cells, &analyze.Cell{Median: &sample.Estimate{Value: v}})
		}
	}
	a, ok := axisFor(cells, room)
	if !ok {
		a, ok = linearAxisFor(cells, room)
	}
	if !ok {
		return
	}
	t.Columns = append(t.Columns, document.Columns(a.ticks(u))...)
	for i, m := range marks {
		if s := a.both(m); s != "" {
			for len(t.Rows[i].Cells) < len(t.Columns)-1 {
				t.Rows[i].Cells = append(t.Rows[i].Cells, document.Cell{})
			}
			t.Rows[i].Cells = append(t.Rows[i].Cells, document.Cell{Text: s, Tone: document.Mark})
		}
	}
}

// both draws what is published as ○ and ours as ●, a box as ├─[▒●▒]─┤ and single
// values as dots.
func (a axis) both(m figureMarks) string {
	line := []rune(strings.Repeat(" ", a.cells))
	last := -1
	put := func(v float64, r rune) {
		at := a.at(v)
		line[at], last = r, max(last, at)
	}
	span := func(from, to float64, r rune) {
		for i := a.at(from); i <= a.at(to); i++ {
			line[i], last = r, max(last, i)
		}
	}
	if b := m.box; b != nil {
		for _, v := range b.Values {
			put(v, '•')
		}
		if x := b.Box; x != nil {
			for _, v := range x.Out {
				put(v, '·')
			}
			span(x.Low, x.High, '─')
			put(x.Low, '├')
			put(x.High, '┤')
			span(x.Q1, x.Q3, '▒')
			put(x.Median, map[bool]rune{true: '○', false: '●'}[b.Published])
		}
	}
	if m.ours != nil {
		e := ends(&analyze.Cell{Median: m.ours})
		span(e[0], e[2], '─')
	}
	if m.theirs != nil {
		put(m.theirs.Value, '○')
	}
	if m.ours != nil {
		put(m.ours.Value, '●')
	}
	return string(line[:last+1])
}

// figuresCSV has a row for each mark.
func figuresCSV(o figuresOf, _ Options) [][]string {
	rows := [][]string{{"run", "figure", "shows", "kind", "panel", "unit", "label", "environment", "published", "x", "level", "value", "lo", "hi", "q1", "q3", "n", "missing"}}
	number := func(v float64) string {
		if math.IsNaN(v) {
			return ""
		}
		return plain(&v)
	}
	for i := range o.list {
		f := &o.list[i]
		add := func(p *figure.Panel, label, env string, theirs bool, rest ...string) {
			head := []string{words.Clean(o.res.Run.ID), words.Clean(f.Name), words.Clean(f.Shows), string(f.Kind), "", "", words.Clean(label), words.Clean(env), fmt.Sprint(theirs)}
			if p != nil {
				head[4], head[5] = words.Clean(p.Title), words.Clean(p.Unit)
			}
			rows = append(rows, append(head, rest...))
		}
		if len(f.Panels) == 0 {
			add(nil, "", "", false, "", "", "", "", "", "", "", "", words.Clean(f.Missing))
		}
		for k := range f.Panels {
			p := &f.Panels[k]
			for _, b := range p.Bars {
				add(p, b.Label, b.Env, true, "", "", number(b.Theirs.Value), plain(b.Theirs.Lo), plain(b.Theirs.Hi), "", "", "", "")
				if b.Here != nil {
					add(p, b.Label, b.Env, false, "", "", number(b.Here.Value), plain(b.Here.Lo), plain(b.Here.Hi), "", "", strconv.Itoa(b.N), "")
				} else {
					add(p, b.Label, b.Env, false, "", "", "", "", "", "", "", "", words.Clean(b.Missing))
				}
			}
			for _, l := range p.Lines {
				for _, q := range l.Points {
					if q.Y == nil {
						add(p, l.Label, l.Env, l.Published, number(q.X), words.Clean(q.Level), "", "", "", "", "", "", "no value")
						continue
					}
					add(p, l.Label, l.Env, l.Published, number(q.X), words.Clean(q.Level), number(q.Y.Value), plain(q.Y.Lo), plain(q.Y.Hi), "", "", strconv.Itoa(q.N), "")
				}
			}
			for _, b := range p.Boxes {
				if x := b.Box; x != nil {
					add(p, b.Label, b.Env, b.Published, "", "", number(x.Median), number(x.Low), number(x.High), number(x.Q1), number(x.Q3), strconv.Itoa(b.N), "")
					continue
				}
				for _, v := range b.Values {
					add(p, b.Label, b.Env, b.Published, "", "", number(v), "", "", "", "", strconv.Itoa(b.N), "")
				}
				if len(b.Values) == 0 {
					add(p, b.Label, b.Env, false, "", "", "", "", "", "", "", "", words.Clean(b.Missing))
				}
			}
		}
	}
	return rows
}
