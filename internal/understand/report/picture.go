package report

import (
	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// page is one of fixed width, on which there may be room for pictures.
type page struct {
	width int
	opts  Options
}

// layout chooses the widest layout that the page has room for. Those for wide
// pages leave room for the picture too.
func (p page) layout(r *ranking) (layout, *document.Table) {
	for _, l := range layouts[:len(layouts)-1] {
		t := r.layOut(l)
		need := t.Width()
		if l.picture && !p.opts.NoPlot {
			need += document.Between + roomyPlot
			if p.opts.Marks {
				need += document.Between + spreadCells
			}
		}
		if need <= p.width {
			return l, t
		}
	}
	l := layouts[len(layouts)-1]
	return l, r.layOut(l)
}

// The cells of a picture: below roomyPlot it has none of the blocks beside it,
// and more than widePlot say nothing more.
const roomyPlot, widePlot = 24, 60

// picture puts the intervals, and where there is room and the terminal is able
// the blocks, into two columns of at most so many characters.
func (p page) picture(r *ranking, room int) (cols []document.Column, draw func(*analyze.Cell) []document.Cell, d *spread) {
	if s, ok := spreadFor(r.cells()); ok && p.opts.Marks && room-document.Between-spreadCells >= roomyPlot {
		room -= document.Between + spreadCells
		d = &s
	}
	a, ok := axisFor(r.cells(), room)
	if !ok {
		return nil, nil, nil
	}
	a = a.onBaseline(r)
	drawn := func(s string) document.Cell { return document.Cell{Text: s, Tone: document.Mark} }
	cols = document.Columns(a.ticks(r.unit))
	if d == nil {
		return cols, func(c *analyze.Cell) []document.Cell { return []document.Cell{drawn(a.mark(c))} }, nil
	}
	cols = document.Columns(document.Pad(cols[0].Title, room, false), d.ticks())
	return cols, func(c *analyze.Cell) []document.Cell {
		return []document.Cell{drawn(a.mark(c)), drawn(d.draw(c))}
	}, d
}

// addPlot puts the picture at the right of the table where there is room.
func (p page) addPlot(r *ranking, t *document.Table) (d *spread, done bool) {
	if p.opts.NoPlot {
		return nil, true
	}
	room := p.width - t.Width() - document.Between
	most := widePlot
	if p.opts.Marks {
		most += document.Between + spreadCells
	}
	cols, draw, d := p.picture(r, min(room, most))
	if cols == nil {
		return nil, false
	}
	t.Columns = append(t.Columns, cols...)
	for i, c := range r.cells() {
		if c.Median != nil {
			t.Rows[i].Cells = append(t.Rows[i].Cells, draw(c)...)
		}
	}
	return d, true
}

// plot draws the picture in a table of its own; nil where there is nothing to
// draw.
func (p page) plot(r *ranking) (*document.Table, *spread) {
	names := 0
	for _, e := range r.order {
		names = max(names, words.Width(words.Clean(e)))
	}
	names = min(names, p.width/3)
	cols, draw, d := p.picture(r, p.width-names-document.Between)
	if cols == nil {
		return nil, nil
	}
	t := &document.Table{Columns: append(document.Columns(document.Pad(r.unit.Name, names, true)), cols...)}
	short := words.Apart(lists.Map(r.order, words.Clean), names, names)
	for i, c := range r.cells() {
		if c.Median != nil {
			t.Rows = append(t.Rows, document.Row{Cells: append(document.Cells(short[i]), draw(c)...)})
		}
	}
	return t, d
}
