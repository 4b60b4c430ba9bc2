package document

import (
	"slices"
	"strings"

	"plimsoll/internal/understand/words"
)

// Table is a table that knows nothing of what it shows.
type Table struct {
	Columns []Column
	Rows    []Row
	// Parts: where the page is too narrow, text cuts it into several tables, all
	// with the first column.
	Parts bool
	// Below is the title of the column that Markdown makes of the lines below
	// each row.
	Below string
	// Caption and Label are for LaTeX, which writes only tables that have them.
	Caption, Label string
}

// Column is one column.
type Column struct {
	Title string // of one line or several
	// First is the title where the column is the first of a part that does not begin
	// with it: what stands over it and its neighbours is said again. "": Title.
	First string
	Right bool // aligned to the right
	// Points: numbers whose decimal points stand in one column.
	Points bool
	// Slanted: Markdown writes the title so.
	Slanted bool
	// Names: its cells name their rows (page only).
	Names bool
}

// Row is a line of a table.
type Row struct {
	Cells []Cell
	Tone  Tone
	Below []Line
}

// Cell is an entry.
type Cell struct {
	Text string
	// Tail follows a number: its interval, a mark.
	Tail string
	Tone Tone
	// Rest: it takes all columns from its own on, in as many lines as it needs.
	Rest bool
	// Slanted: Markdown writes it so.
	Slanted bool
}

// Columns makes plain columns of titles.
func Columns(titles ...string) []Column {
	out := make([]Column, len(titles))
	for i, t := range titles {
		out[i].Title = t
	}
	return out
}

// Cells makes plain cells of texts.
func Cells(texts ...string) []Cell {
	out := make([]Cell, len(texts))
	for i, t := range texts {
		out[i].Text = t
	}
	return out
}

// Row appends a row of plain cells.
func (t *Table) Row(texts ...string) { t.Rows = append(t.Rows, Row{Cells: Cells(texts...)}) }

// Told appends a row of plain cells whose last one takes as many lines as it needs.
func (t *Table) Told(texts ...string) {
	t.Row(texts...)
	t.Rows[len(t.Rows)-1].Cells[len(texts)-1].Rest = true
}

// LastWraps lets the last cell of a row that is wider than limit take as many lines as it
// needs.
func (t *Table) LastWraps(limit int) {
	before := 0
	for _, w := range t.Widths()[:len(t.Columns)-1] {
		before += w + Between
	}
	for _, r := range t.Rows {
		n := len(r.Cells)
		if n < len(t.Columns) || before+words.Width(r.Cells[n-1].String()) <= limit {
			continue
		}
		r.Cells[n-1] = Cell{Text: r.Cells[n-1].String(), Tone: r.Cells[n-1].Tone, Rest: true}
	}
}

// Column appends a column with its cells, one for each row.
func (t *Table) Column(c Column, cells []Cell) {
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i].Cells = append(t.Rows[i].Cells, cells[i])
	}
}

// Drop takes columns away, from one on and before another.
func (t *Table) Drop(from, to int) {
	t.Columns = slices.Delete(t.Columns, from, to)
	for i := range t.Rows {
		t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, from, to)
	}
}

// DropTails takes the tails of the cells of a column away, which a row with a Rest may
// lack.
func (t *Table) DropTails(column int) {
	for _, r := range t.Rows {
		if column < len(r.Cells) {
			r.Cells[column].Tail = ""
		}
	}
}

// Right aligns columns to the right.
func Right(columns []Column) {
	for i := range columns {
		columns[i].Right = true
	}
}

// String is a cell with its tail.
func (c Cell) String() string {
	if c.Tail == "" {
		return c.Text
	}
	return c.Text + " " + c.Tail
}

// aligned are the texts of all cells as a page of fixed width shows them. A row
// with a Rest ends before it.
func (t *Table) aligned() [][]string {
	out := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Rest {
				break
			}
			out[i] = append(out[i], c.String())
		}
	}
	for k, col := range t.Columns {
		if !col.Points {
			continue
		}
		var numbers []string
		for i, r := range t.Rows {
			if k < len(out[i]) {
				numbers = append(numbers, r.Cells[k].Text)
			}
		}
		numbers, n := Align(numbers), 0
		for i, r := range t.Rows {
			if k < len(out[i]) {
				out[i][k] = Cell{Text: numbers[n], Tail: r.Cells[k].Tail}.String()
				n++
			}
		}
	}
	return out
}

// Align pads numbers so that their decimal points stand in one column.
func Align(values []string) []string {
	left, right := 0, 0
	for _, v := range values {
		whole, frac := splitPoint(v)
		left, right = max(left, words.Width(whole)), max(right, words.Width(frac))
	}
	out := make([]string, len(values))
	for i, v := range values {
		if v == "" {
			continue
		}
		whole, frac := splitPoint(v)
		out[i] = Pad(whole, left, true) + Pad(frac, right, false)
	}
	return out
}

// splitPoint cuts a number before its decimal point.
func splitPoint(s string) (whole, frac string) {
	if i := strings.IndexByte(s, '.'); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// Pad fills s with blanks up to n characters.
func Pad(s string, n int, right bool) string {
	if k := n - words.Width(s); k > 0 {
		if right {
			return strings.Repeat(" ", k) + s
		}
		return s + strings.Repeat(" ", k)
	}
	return s
}
