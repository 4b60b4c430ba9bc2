package report

import (
	"fmt"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// form is how much of a ranking stands on a screen.
type form struct {
	names                    int  // characters of a name; 0: all
	common                   bool // what names have in common is abbreviated
	picture, interval, times bool
	lacks                    lackForm
}

// lackForm is how what isolation each lacks stands in its row.
type lackForm int

const (
	unsaid lackForm = iota
	marked          // a mark where it lacks some
	inWords
)

// screens from the widest to the narrowest: whole names can be typed, a picture is worth
// more than a part that all names have, and an interval more than the words for isolation.
var screens = []form{
	{0, false, true, true, true, inWords}, {0, true, true, true, true, inWords}, {0, false, true, true, true, marked}, {0, true, true, false, true, inWords}, {0, true, true, false, true, marked},
	{24, true, true, true, true, inWords}, {20, true, true, false, true, inWords}, {16, true, true, false, true, marked},
	{words.MaxName, false, false, true, true, inWords}, {0, true, false, false, true, inWords}, {0, true, false, false, true, marked}, {20, false, false, true, true, marked}, {20, false, false, false, true, marked},
	{12, false, false, false, true, unsaid}, {10, false, false, false, false, unsaid},
}

// laid is a table as it stands on the screen.
type laid struct {
	*document.Table
	names         string // what the abbreviations of its names stand for
	axis          axis   // of its picture; none has no cells
	ranked, times bool   // it has these columns
	noted         bool   // its baselines' names say what they are
	lacks         lackForm
}

// table is the ranking in the widest form that there is room for.
func (s *screen) table(a *verdict.Answer) (t laid) {
	r := newRanking(a.Work, a.Table, s.opts)
	whole := lists.Map(r.cells(), func(c *analyze.Cell) string { return words.Clean(c.Env) })
	for i, l := range screens {
		names, said := whole, []abbreviation(nil)
		if l.common {
			bare := s.rows(a, r, l, make([]string, len(whole)))
			room := s.Width - bare.Width() + words.Width(bare.Columns[1].Title)
			if l.picture {
				room -= document.Between + minPlot
			}
			names, said = abbreviated(whole, max(room, 8))
			if len(said) == 0 && l.names == 0 && l.interval {
				continue // it is the form before
			}
		}
		if i < len(screens)-1 && !distinct(names, l.names) {
			continue // two rows of one name are worth less than a picture
		}
		note := l.names == 0 && widest(noted(names)) <= widest(names) // else it would take room from the rest
		if note {
			names = noted(names)
		}
		t = laid{Table: s.rows(a, r, l, names), times: l.times, noted: note, ranked: slices.ContainsFunc(r.cells(), func(c *analyze.Cell) bool { return c.Places != nil })}
		if l.common {
			t.names = legendOf(said)
		}
		if s.lacksAny(r) {
			t.lacks = l.lacks
		}
		room := s.Width - t.Width() - document.Between
		if !l.picture && room+document.Between >= 0 {
			break
		}
		if l.picture && room >= minPlot {
			t.axis = s.draw(t.Table, r, min(room, 40))
			break
		}
	}
	return t
}

// widest is the width of the widest.
func widest(names []string) (most int) {
	for _, n := range names {
		most = max(most, words.Width(n))
	}
	return most
}

// distinct says whether names are still different when each has so many characters;
// 0: all of them.
func distinct(names []string, room int) bool {
	if room > 0 {
		names = lists.Map(names, func(n string) string { return words.Shorten(n, room) })
	}
	return len(analyze.Distinct(names)) == len(names)
}

// rows lays the ranking out: the places that each may hold, its median, and how
// many times the first that is. names are those of the rows.
func (s *screen) rows(a *verdict.Answer, r *ranking, l form, names []string) *document.Table {
	t := &document.Table{Columns: document.Columns("rank", "environment")}
	t.Columns[0].Right = true
	failed, place := false, map[string]bool{}
	for i, c := range r.cells() {
		failed = failed || r.work.Count(c.Env).Failed > 0
		place[c.Env] = c.Places != nil
		name := names[i]
		if l.names > 0 {
			name = words.Shorten(name, l.names)
		}
		row := document.Row{Cells: document.Cells(c.Places.String(), name)}
		if c.Places == nil {
			row.Tone = document.Dim
		}
		t.Rows = append(t.Rows, row)
	}
	if l.names > 0 && l.names < words.Width("environment") {
		t.Columns[1].Title = "env"
	}
	add := func(title string, points bool, of func(*analyze.Cell) string) {
		cells := document.Cells(lists.Map(r.cells(), of)...)
		t.Column(document.Column{Title: title, Points: points, Right: !points}, cells)
	}
	number := func(c *analyze.Cell) words.Number {
		if c.Median == nil {
			return words.Number{}
		}
		return words.NumberOf(*c.Median, r.unit.By, words.Full)
	}
	unit := r.unit.Name
	if unit == "" || unit == "count" {
		unit = words.Clean(a.Table.Metric.Title)
	}
	add(unit, true, func(c *analyze.Cell) string { return number(c).Value })
	if l.interval {
		add("95 %", false, func(c *analyze.Cell) string { return number(c).Interval })
	}
	if l.times {
		add(words.Times(a.Table.Metric), true, func(c *analyze.Cell) string {
			if c.Env == a.All[0] {
				return "1"
			}
			if p := a.Behind(c.Env, a.All[0]); p != nil {
				return words.Factor(p.Value)
			}
			return ""
		})
	}
	switch {
	case !s.lacksAny(r):
	case l.lacks == inWords:
		add("lacks", false, func(c *analyze.Cell) string {
			if e := s.res.Environment(c.Env); e != nil && e.Baseline != "" {
				return noContainer
			}
			return s.lacks(c.Env)
		})
	case l.lacks == marked:
		add("", false, func(c *analyze.Cell) string {
			if s.lacks(c.Env) != "" {
				return lackMark
			}
			return ""
		})
	}
	if failed {
		add("failed", false, func(c *analyze.Cell) string {
			if n := r.work.Count(c.Env); n.Failed > 0 {
				return fmt.Sprintf("%d/%d", n.Failed, n.Trials)
			}
			return ""
		})
	}
	s.missing(t, r)
	return t
}

// missing puts the reason into the rows of what has no value, on the line of the
// row.
func (s *screen) missing(t *document.Table, r *ranking) {
	used := 0
	for _, c := range t.Columns[:2] {
		used += words.Width(c.Title)
	}
	for _, row := range t.Rows {
		used = max(used, words.Width(row.Cells[1].Text)+4)
	}
	for i, c := range r.cells() {
		if c.Median == nil {
			why := words.Cut(words.Clean(c.Missing), max(10, s.Width-used-2*document.Between-4))
			t.Rows[i].Cells = append(t.Rows[i].Cells[:2], document.Cell{Text: why, Rest: true})
		}
	}
}

// draw puts the small picture into the rows, and gives its axis; one without cells
// where there is none.
func (s *screen) draw(t *document.Table, r *ranking, room int) axis {
	x, ok := axisFor(r.cells(), room)
	if !ok {
		return axis{}
	}
	x = x.onBaseline(r)
	t.Columns = append(t.Columns, document.Column{Title: x.ticks(r.unit)})
	for i, c := range r.cells() {
		if c.Median != nil {
			t.Rows[i].Cells = append(t.Rows[i].Cells, document.Cell{Text: x.mark(c), Tone: document.Mark})
		}
	}
	return x
}
