package document

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/understand/words"
)

// Between is how many blanks stand between two columns of a page.
const Between = 2

// minRest is the fewest characters in which a Rest is written beside its row.
const minRest = 16

// lined is a table with its cells aligned, and the widths of its columns.
type lined struct {
	*Table
	cells  [][]string
	widths []int
}

func line(t *Table) lined {
	l := lined{t, t.aligned(), make([]int, len(t.Columns))}
	for i, c := range t.Columns {
		for s := range strings.SplitSeq(c.Title, "\n") {
			l.widths[i] = max(l.widths[i], words.Width(s))
		}
	}
	for _, r := range l.cells {
		for i, c := range r {
			l.widths[i] = max(l.widths[i], words.Width(c))
		}
	}
	return l
}

// Widths are those of the columns on a page that has room for all of them.
func (t *Table) Widths() []int { return line(t).widths }

// Width is that of the whole table.
func (t *Table) Width() int {
	sum := -Between
	for _, w := range t.Widths() {
		sum += w + Between
	}
	return sum
}

func (p page) table(t *Table) {
	if !t.Parts {
		p.lines(t)
		return
	}
	for i, part := range t.parts(p.Width) {
		if i > 0 {
			p.blank()
		}
		p.lines(part)
	}
}

func (p page) lines(t *Table) {
	l := line(t)
	p.head(l)
	for i := range t.Rows {
		p.row(l, i)
		for _, s := range t.Rows[i].Below {
			p.para("   ", s.String(), Plain)
		}
	}
}

// head writes the titles, the last lines of which stand in one line.
func (p page) head(l lined) {
	high := 1
	for _, c := range l.Columns {
		high = max(high, 1+strings.Count(c.Title, "\n"))
	}
	for h := range high {
		var head []string
		for i, c := range l.Columns {
			t := strings.Split(c.Title, "\n")
			k, text := h-(high-len(t)), ""
			if k >= 0 {
				text = t[k]
			}
			head = append(head, Pad(text, l.widths[i], c.Right))
		}
		fmt.Fprintln(p.out, p.toned(Head, p.fit(strings.Join(head, blanks(Between)))))
	}
}

func blanks(n int) string { return strings.Repeat(" ", n) }

// fit is a line without blanks at its end, cut where it is wider than the page.
func (p page) fit(s string) string { return words.Cut(strings.TrimRight(s, " "), p.Width) }

func (p page) row(l lined, i int) {
	r := l.Rows[i]
	n := len(l.cells[i])
	rest := n < len(r.Cells) && strings.TrimSpace(r.Cells[n].Text) != ""
	var parts []string
	for k, c := range l.Columns {
		cell := ""
		switch {
		case k < n:
			cell = l.cells[i][k]
		case rest:
			continue
		}
		parts = append(parts, Pad(cell, l.widths[k], c.Right))
	}
	s := strings.Join(parts, blanks(Between))
	if !rest {
		fmt.Fprintln(p.out, p.paint(r, l.widths, p.fit(s)))
		return
	}
	text := strings.TrimLeft(r.Cells[n].Text, " ")
	lead := s
	if n > 0 {
		lead += blanks(Between)
	}
	// Its other lines stand as far in as the first.
	lead += blanks(len(r.Cells[n].Text) - len(text))
	if p.Width-words.Width(lead) < minRest { // below the row
		fmt.Fprintln(p.out, p.toned(r.Tone, p.fit(s)))
		lead = blanks(2 * Between)
	}
	p.para(lead, text, r.Tone)
}

// paint tones a line, or its cells where the row has no tone.
func (p page) paint(r Row, widths []int, line string) string {
	if r.Tone != Plain {
		return p.toned(r.Tone, line)
	}
	var b strings.Builder
	rest, at := []rune(line), 0
	put := func(tone Tone, n int) {
		n = min(n, len(rest))
		b.WriteString(p.toned(tone, string(rest[:n])))
		rest, at = rest[n:], at+n
	}
	begin := 0
	for i, c := range r.Cells {
		if c.Tone != Plain && begin < at+len(rest) {
			put(Plain, begin-at)
			cell := string(rest[:min(widths[i], len(rest))])
			put(Plain, words.Width(cell)-words.Width(strings.TrimLeft(cell, " ")))
			// Dots lead the eye to a picture.
			put(Dim, words.Width(cell)-words.Width(strings.TrimLeft(cell, " ·"))+begin-at)
			put(c.Tone, begin+widths[i]-at)
		}
		begin += widths[i] + Between
	}
	put(Plain, len(rest))
	return b.String()
}

// leads are the cells of the first column where the page is too narrow for the table: a
// third of it wide at most, or as wide as names of environments are where these take no
// more than half, and more only where names that differ would look alike; never so wide
// that a column beside them, which has numbers, would be cut.
func (t *Table) leads(limit int) []Cell {
	out := make([]Cell, len(t.Rows))
	most := limit - Between
	if w := t.Widths(); len(w) > 1 {
		most -= slices.Max(w[1:])
	}
	for _, room := range []int{max(limit/3, min(words.MaxName, limit/2)), limit / 2, limit * 2 / 3} {
		room = max(limit/3, min(room, most))
		alike, of := false, map[string]string{}
		for i, r := range t.Rows {
			whole := r.Cells[0].String()
			short := words.Shorten
			if !strings.Contains(whole, "/") { // no name of levels: how it begins says most
				short = words.Cut
			}
			out[i] = Cell{Text: short(whole, room), Tone: r.Cells[0].Tone}
			if before, there := of[out[i].Text]; there && before != whole {
				alike = true
			}
			of[out[i].Text] = whole
		}
		if !alike {
			break
		}
	}
	return out
}

// parts cuts a table into as many as are needed for each to fit, all with the
// first column.
func (t *Table) parts(limit int) []*Table {
	if t.Width() <= limit {
		return []*Table{t}
	}
	leads := t.leads(limit)
	w := t.Widths()
	w[0] = words.Width(t.Columns[0].Title)
	for _, c := range leads {
		w[0] = max(w[0], words.Width(c.Text))
	}
	var out []*Table
	for from := 1; from < len(t.Columns); {
		columns, w := slices.Clone(t.Columns), slices.Clone(w)
		if c := &columns[from]; from > 1 && c.First != "" {
			c.Title = c.First
			for s := range strings.SplitSeq(c.Title, "\n") {
				w[from] = max(w[from], words.Width(s))
			}
		}
		sum, to := w[0], from
		for to < len(t.Columns) && (to == from || sum+Between+w[to] <= limit) {
			sum += Between + w[to]
			to++
		}
		part := &Table{Columns: append(columns[:1:1], columns[from:to]...)}
		for i, r := range t.Rows {
			cells := []Cell{leads[i]}
			if last := r.Cells[len(r.Cells)-1]; last.Rest { // it stands for all columns
				cells = append(cells, last)
			} else {
				cells = append(cells, r.Cells[from:to]...)
			}
			part.Rows = append(part.Rows, Row{Cells: cells, Tone: r.Tone})
		}
		out = append(out, part)
		from = to
	}
	return out
}
