package plot

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/understand/view"
)

// rowChart has a row for each environment: its name, marks on a common axis,
// and columns of numbers.
type rowChart struct {
	axis     axis
	label    string // under the axis
	rows     []chartRow
	cols     []column
	rowH     float64
	guides   []guide
	unscaled bool // the axis is left out

	nameW, plotX, plotW float64
}

type chartRow struct {
	name    string
	look    look
	cells   []string
	missing string // stands instead of marks and numbers
	mark    mark
	draw    func(s surface, y float64) // around the row's middle
}

// column is one of numbers; those that are optional go first where it is narrow.
type column struct {
	head     string
	right    bool
	optional bool
	w        float64
}

// guide is a vertical line at a value.
type guide struct {
	name string
	at   float64
	line stroke
}

const (
	headH  = 14.0
	axisH  = 28.0
	colGap = 10.0
)

// layOut shares the width out between names, axis and columns.
func (c *rowChart) layOut(width float64) {
	c.rowH = cmp.Or(c.rowH, 17)
	for _, r := range c.rows {
		c.nameW = max(c.nameW, nameFace.width(r.name)+10)
	}
	c.nameW = min(c.nameW, width*0.34)
	for i := range c.cols {
		c.cols[i].w = tinyFace.width(c.cols[i].head)
		for _, r := range c.rows {
			if r.missing == "" {
				c.cols[i].w = max(c.cols[i].w, smallFace.width(view.At(r.cells, i)))
			}
		}
	}
	for {
		c.plotX, c.plotW = c.nameW+colGap, width-c.nameW-colGap-4
		for _, k := range c.cols {
			c.plotW -= k.w + colGap
		}
		i := slices.IndexFunc(c.cols, func(k column) bool { return k.optional })
		if c.plotW >= width*0.3 || i < 0 {
			break
		}
		c.cols = slices.Delete(c.cols, i, i+1)
		for k := range c.rows {
			if i < len(c.rows[k].cells) {
				c.rows[k].cells = slices.Delete(slices.Clone(c.rows[k].cells), i, i+1)
			}
		}
	}
	c.plotW = max(c.plotW, 40)
}

func (c *rowChart) height() float64 {
	return headH + c.rowH*float64(len(c.rows)) + axisH
}

// draw draws the chart in a box that is at least as high as height says.
func (c *rowChart) draw(s surface, b box) {
	rowH := (b.h - headH - axisH) / float64(max(1, len(c.rows)))
	top := b.y + headH
	bottom := top + rowH*float64(len(c.rows))
	x0 := b.x + c.plotX
	c.axis = c.axis.place(x0, x0+c.plotW)

	for i := range c.rows {
		if i%2 == 1 {
			rect(s, box{b.x - 4, top + rowH*float64(i), b.w + 8, rowH}, stripe)
		}
	}
	x := x0 + c.plotW + 4
	heads := make([]float64, len(c.cols))
	for i, k := range c.cols {
		x += colGap
		heads[i] = x
		a, hx := left, x
		if k.right {
			a, hx = right, x+k.w
		}
		s.text(point{hx, b.y + headH - 5}, k.head, tinyFace, a, false, muted)
		x += k.w
	}
	if !c.unscaled {
		c.axisX(s, top, bottom)
	}
	c.drawGuides(s, top, bottom)
	for i, r := range c.rows {
		y := top + rowH*(float64(i)+0.5)
		ground := paper
		if i%2 == 1 {
			ground = stripe
		}
		s.open(r.mark)
		c.drawRow(s, b, r, y, heads, ground)
		s.close()
	}
	if !c.unscaled {
		s.text(point{x0 + c.plotW/2, bottom + axisH - 4}, smallFace.fitEnd(c.label, b.w), smallFace, middle, false, muted)
	}
}

func (c *rowChart) drawRow(s surface, b box, r chartRow, y float64, heads []float64, ground ink) {
	nameInk := black
	if r.missing != "" {
		nameInk = muted
	}
	if !r.look.none() {
		glyph(s, point{b.x + 3, y}, 2.6, r.look.shape, r.look.ink, stroke{})
	}
	s.text(point{b.x + 10, y + 3.1}, nameFace.fit(r.name, c.nameW-10), nameFace, left, false, nameInk)
	if r.missing != "" {
		room := b.right() - (b.x + c.plotX) - 4
		text := smallFace.fitEnd(r.missing, room)
		rect(s, box{b.x + c.plotX, y - 5.5, smallFace.width(text) + 4, 11}, ground) // over the lines
		s.text(point{b.x + c.plotX + 2, y + 2.8}, text, smallFace, left, false, muted)
		return
	}
	if r.draw != nil {
		r.draw(s, y)
	}
	for i, k := range c.cols {
		a, x := left, heads[i]
		if k.right {
			a, x = right, heads[i]+k.w
		}
		s.text(point{x, y + 2.8}, view.At(r.cells, i), smallFace, a, false, black)
	}
}

// axisX draws grid and labels.
func (c *rowChart) axisX(s surface, top, bottom float64) { axisX(s, c.axis, top, bottom) }

func axisX(s surface, a axis, top, bottom float64) { axisAt(s, a, a.ticks(alongX), top, bottom) }

// axisAt draws an axis with ticks of its own.
func axisAt(s surface, a axis, ticks []tick, top, bottom float64) {
	for _, t := range ticks {
		line(s, t.at, top, t.at, bottom, stroke{ink: grid, width: 0.6})
		line(s, t.at, bottom, t.at, bottom+3, stroke{ink: frame, width: 0.6})
		s.text(point{t.at, bottom + 11.5}, t.label, smallFace, middle, false, muted)
	}
	line(s, a.from, bottom, a.to, bottom, stroke{ink: frame, width: 0.6})
}

// drawGuides draws the lines, and those of their names that have room.
func (c *rowChart) drawGuides(s surface, top, bottom float64) {
	slices.SortStableFunc(c.guides, func(a, b guide) int { return cmp.Compare(a.at, b.at) })
	type spot struct {
		x     float64
		names []string
	}
	var spots []spot
	for _, g := range c.guides {
		x := c.axis.at(g.at)
		line(s, x, top-2, x, bottom, g.line)
		if n := len(spots); n > 0 && x-spots[n-1].x < tinyFace.width(strings.Join(spots[n-1].names, ", "))/2+tinyFace.width(g.name)/2+6 {
			if !slices.Contains(spots[n-1].names, g.name) {
				spots[n-1].names = append(spots[n-1].names, g.name)
			}
			continue
		}
		spots = append(spots, spot{x, []string{g.name}})
	}
	for _, p := range spots {
		label := strings.Join(p.names, ", ")
		half := tinyFace.width(label) / 2
		x := min(max(p.x, c.axis.from+half-4), c.axis.to-half+4)
		s.text(point{x, top - 5}, label, tinyFace, middle, false, muted)
	}
}
