package plot

import (
	"io"
	"math"
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
	"golang.org/x/text/encoding/charmap"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgpdf"
)

// vector draws on a canvas of gonum's, whose y grows upwards.
type vector struct {
	c    vg.Canvas
	h    float64
	dark bool
	// code turns a text into what the canvas wants; nil: UTF-8.
	code func(string) string
}

// writePNG writes a picture as PNG.
func (p *picture) writePNG(w io.Writer, o Options) error {
	c := vgimg.NewWith(vgimg.UseWH(vg.Points(p.w), vg.Points(p.h)), vgimg.UseDPI(o.DPI), vgimg.UseBackgroundColor(paper.on(o.Dark)))
	p.draw(&vector{c, p.h, o.Dark, nil})
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// pdfDates guards what the PDF library keeps for all documents alike.
var pdfDates sync.Mutex

// writePDF writes a picture as PDF, its fonts embedded. Its date is that of the
// run, so that the same run gives the same bytes.
func (p *picture) writePDF(w io.Writer, o Options) error {
	pdfDates.Lock()
	defer pdfDates.Unlock()
	fpdf.SetDefaultCreationDate(p.date)
	fpdf.SetDefaultModificationDate(p.date)
	fpdf.SetDefaultCatalogSort(true)
	c := vgpdf.New(vg.Points(p.w), vg.Points(p.h))
	p.draw(&vector{c, p.h, o.Dark, windows1252})
	_, err := c.WriteTo(w)
	return err
}

// windows1252 is the code in which the PDF library takes a text; what it lacks
// becomes a question mark.
func windows1252(s string) string {
	var b strings.Builder
	for _, r := range s {
		c, ok := charmap.Windows1252.EncodeRune(r)
		if !ok {
			c = '?'
		}
		b.WriteByte(c)
	}
	return b.String()
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
	var dash []vg.Length
	for _, d := range l.dash {
		dash = append(dash, vg.Points(d))
	}
	v.c.SetColor(l.on(v.dark))
	v.c.SetLineWidth(vg.Points(l.width))
	v.c.SetLineDash(dash, 0)
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

// dot is made of four Bézier curves, which every canvas draws alike.
func (v *vector) dot(at point, r float64, fill ink, l stroke) {
	k := r * 4 / 3 * (math.Sqrt2 - 1)
	to := func(x, y float64) vg.Point { return v.pt(point{at.x + x, at.y + y}) }
	var path vg.Path
	path.Move(to(r, 0))
	path.CubeTo(to(r, k), to(k, r), to(0, r))
	path.CubeTo(to(-k, r), to(-r, k), to(-r, 0))
	path.CubeTo(to(-r, -k), to(-k, -r), to(0, -r))
	path.CubeTo(to(k, -r), to(r, -k), to(r, 0))
	path.Close()
	v.paint(path, fill, l)
}

func (v *vector) text(at point, s string, f face, a align, up bool, c ink) {
	if s == "" || c.none() {
		return
	}
	shift := f.width(s) * map[align]float64{middle: 0.5, right: 1}[a]
	switch {
	case v.code != nil:
		s = v.code(s)
	case up:
		v.c.SetColor(c.on(v.dark))
		v.c.Fill(v.outline(point{at.x, at.y + shift}, s, f))
		return
	}
	v.c.SetColor(c.on(v.dark))
	if !up {
		v.c.FillString(f.font(), v.pt(point{at.x - shift, at.y}), s)
		return
	}
	v.c.Push()
	v.c.Translate(v.pt(at))
	v.c.Rotate(math.Pi / 2)
	v.c.FillString(f.font(), vg.Point{X: vg.Points(-shift)}, s)
	v.c.Pop()
}

func (*vector) open(mark) {}
func (*vector) close()    {}
