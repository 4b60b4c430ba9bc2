package plot

// panel is a pair of axes with lines: a chart has one or several, one below
// the other or side by side.
type panel struct {
	title  string
	x, y   axis
	xLabel string
	yLabel string
	draw   func(s surface, p *panel)
	// places are the values of x that have names, instead of round numbers.
	places []place
	legend []key
	keys   [][]key // the legend in rows
}

// place is a value with its name.
type place struct {
	at   float64
	name string
}

// ticks are the named places, or round numbers where there are none or their
// names have no room.
func (p *panel) ticks() []tick {
	var out []tick
	for i, n := range p.places {
		t := tick{p.x.at(n.at), n.name}
		if i > 0 && t.at-out[i-1].at < (alongX(t.label)+alongX(out[i-1].label))/2 {
			return p.x.ticks(alongX)
		}
		out = append(out, t)
	}
	if out == nil {
		return p.x.ticks(alongX)
	}
	return out
}

const (
	panelTitle = 15.0
	yRoom      = 40.0
)

// drawIn draws the panel in a box.
func (p *panel) drawIn(s surface, b box) {
	top, bottom := b.y+5, b.bottom()-axisH
	if p.title != "" {
		top += panelTitle
		s.text(point{b.x, b.y + 9.5}, boldFace.fitEnd(p.title, b.w), boldFace, left, false, black)
	}
	for _, row := range p.keys {
		drawKeys(s, b.x, top-3, row)
		top += legendRow
	}
	if p.yLabel != "" {
		s.text(point{b.x, top + 4}, smallFace.fitEnd(p.yLabel, b.w), smallFace, left, false, muted)
		top += 13
	}
	p.x = p.x.place(b.x+yRoom, b.right()-6)
	p.y = p.y.place(bottom, top)
	for _, t := range p.y.ticks(alongY) {
		line(s, p.x.from, t.at, p.x.to, t.at, stroke{ink: grid, width: 0.6})
		s.text(point{p.x.from - 5, t.at + 2.8}, t.label, smallFace, right, false, muted)
	}
	axisAt(s, p.x, p.ticks(), top, bottom)
	s.text(point{(p.x.from + p.x.to) / 2, bottom + axisH - 4}, smallFace.fitEnd(p.xLabel, b.w), smallFace, middle, false, muted)
	p.draw(s, p)
}

// fill puts panels into the picture, two beside each other where there are
// several and it is wide enough.
func (p *picture) fill(list []*panel, o Options) {
	cols, h, room := 1, 230.0, o.Width-2*margin
	if len(list) > 1 && o.Width >= 500 {
		cols, h = 2, 190
	}
	w := (room - colGap*float64(cols-1)) / float64(cols)
	var heights []float64
	for i, one := range list {
		one.keys = wrapKeys(one.legend, w)
		if i%cols == 0 {
			heights = append(heights, 0)
		}
		row := len(heights) - 1
		heights[row] = max(heights[row], h+legendRow*float64(len(one.keys)))
	}
	sum := 0.0
	for _, v := range heights {
		sum += v
	}
	p.height = sum
	p.body = func(s surface, b box) {
		y := b.y
		for i, one := range list {
			h := heights[i/cols] * b.h / sum
			one.drawIn(s, box{b.x + float64(i%cols)*(w+colGap), y, w, h - 8})
			if i%cols == cols-1 {
				y += h
			}
		}
	}
}

// at is the place of a pair of values.
func (p *panel) at(x, y float64) point { return point{p.x.at(x), p.y.at(y)} }
