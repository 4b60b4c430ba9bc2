package plot

// panel is a pair of axes with lines: a chart has one or several, one below
// the other or side by side.
type panel struct {
	title  string
	x, y   axis
	xLabel string
	yLabel string
	draw   func(s surface, p *panel)
}

const (
	panelTitle = 15.0
	yRoom      = 44.0
)

// drawIn draws the panel in a box.
func (p *panel) drawIn(s surface, b box) {
	top, bottom := b.y+5, b.bottom()-axisH
	if p.title != "" {
		top += panelTitle
		s.text(point{b.x, b.y + 9.5}, boldFace.fitEnd(p.title, b.w), boldFace, left, false, black)
	}
	p.x = p.x.place(b.x+yRoom, b.right()-6)
	p.y = p.y.place(bottom, top)
	for _, t := range p.y.ticks(alongY) {
		line(s, p.x.from, t.at, p.x.to, t.at, stroke{ink: grid, width: 0.6})
		s.text(point{p.x.from - 5, t.at + 2.8}, t.label, smallFace, right, false, muted)
	}
	axisX(s, p.x, top, bottom)
	s.text(point{(p.x.from + p.x.to) / 2, bottom + axisH - 4}, smallFace.fitEnd(p.xLabel, b.w), smallFace, middle, false, muted)
	if p.yLabel != "" {
		s.text(point{b.x + 8, (top + bottom) / 2}, smallFace.fitEnd(p.yLabel, bottom-top+10), smallFace, middle, true, muted)
	}
	p.draw(s, p)
}

// panels puts panels into a box in columns.
func panels(list []*panel, cols int) func(s surface, b box) {
	return func(s surface, b box) {
		rows := (len(list) + cols - 1) / cols
		w := (b.w - colGap*float64(cols-1)) / float64(cols)
		h := b.h / float64(rows)
		for i, p := range list {
			p.drawIn(s, box{b.x + float64(i%cols)*(w+colGap), b.y + float64(i/cols)*h, w, h - 6})
		}
	}
}

// at is the place of a pair of values.
func (p *panel) at(x, y float64) point { return point{p.x.at(x), p.y.at(y)} }
