package plot

import (
	"io"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"plimsoll/internal/common/lists"
)

// vector draws on a canvas of gonum's, whose y grows upwards.
type vector struct {
	c    vg.Canvas
	h    float64
	dark bool
}

// writePNG writes a picture as PNG.
func (p *picture) writePNG(w io.Writer, o Options) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Points(p.w), vg.Points(p.h)), vgimg.UseDPI(o.DPI), vgimg.UseBackgroundColor(paper.on(o.Dark)))
	p.draw(&vector{c, p.h, o.Dark})
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

func (v *vector) pt(p point) vg.Point {
	return vg.Point{X: vg.Points(p.x), Y: vg.Points(v.h - p.y)}
}

// paint fills and strokes a path.
func (v *vector) paint(path vg.Path, fill ink, l stroke) {
	if !fill.none() {
		v.c.SetColor(fill.on(v.dark))
		v.c.Fill(path)
	}
	if l.none() || l.width == 0 {
		return
	}
	v.c.SetColor(l.on(v.dark))
	v.c.SetLineWidth(vg.Points(l.width))
	v.c.SetLineDash(lists.Map(l.dash, vg.Points), 0)
	v.c.Stroke(path)
}

func (v *vector) poly(p []point, closed bool, fill ink, l stroke) {
	if len(p) == 0 {
		return
	}
	var path vg.Path
	path.Move(v.pt(p[0]))
	for _, q := range p[1:] {
		path.Line(v.pt(q))
	}
	if closed {
		path.Close()
	}
	v.paint(path, fill, l)
}

func (v *vector) dot(at point, r float64, fill ink, l stroke) {
	var path vg.Path
	path.Move(v.pt(point{at.x + r, at.y}))
	for _, q := range quarters(at, r) {
		path.CubeTo(v.pt(q[0]), v.pt(q[1]), v.pt(q[2]))
	}
	path.Close()
	v.paint(path, fill, l)
}

// quarters are the four Bézier curves of a circle, from its right end on.
func quarters(at point, r float64) [4][3]point {
	k := r * 4 / 3 * (math.Sqrt2 - 1)
	to := func(x, y float64) point { return point{at.x + x, at.y + y} }
	return [4][3]point{
		{to(r, k), to(k, r), to(0, r)},
		{to(-k, r), to(-r, k), to(-r, 0)},
		{to(-r, -k), to(-k, -r), to(0, -r)},
		{to(k, -r), to(r, -k), to(r, 0)},
	}
}

func (v *vector) text(at point, s string, f face, a align, up bool, c ink) {
	if s == "" || c.none() {
		return
	}
	shift := f.width(s) * map[align]float64{middle: 0.5, right: 1}[a]
	v.c.SetColor(c.on(v.dark))
	if up {
		v.c.Fill(v.outline(point{at.x, at.y + shift}, s, f))
		return
	}
	v.c.FillString(f.font(), v.pt(point{at.x - shift, at.y}), s)
}

func (*vector) open(mark) {}
func (*vector) close()    {}
