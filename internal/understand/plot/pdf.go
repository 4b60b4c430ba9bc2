package plot

import (
	"io"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"codeberg.org/go-pdf/fpdf"
)

// pdf draws on a page. The plotting library's own canvas for PDF writes Western
// letters only, and mixes two weights of a font up.
type pdf struct {
	doc  *fpdf.Fpdf
	dark bool
}

// writePDF writes a picture as PDF, with those letters of its fonts that it
// uses. Its date is that of the run, so that the same run gives the same bytes.
func (p *picture) writePDF(w io.Writer, o Options) error {
	doc := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: p.w, Ht: p.h}})
	doc.SetCreationDate(p.date)
	doc.SetModificationDate(p.date)
	doc.SetCatalogSort(true)
	doc.SetTitle(p.title, true)
	doc.SetSubject(p.describe(), true)
	doc.SetMargins(0, 0, 0)
	doc.SetAutoPageBreak(false, 0)
	doc.AddUTF8FontFromBytes("liberation", "", liberationsansregular.TTF)
	doc.AddUTF8FontFromBytes("liberation", "B", liberationsansbold.TTF)
	doc.AddPage()
	p.draw(&pdf{doc, o.Dark})
	return doc.Output(w)
}

// inks sets colours and width, and says how a path is then to be painted.
func (s *pdf) inks(fill ink, l stroke) string {
	style := ""
	if !fill.none() {
		c := fill.on(s.dark)
		s.doc.SetFillColor(int(c.R), int(c.G), int(c.B))
		s.doc.SetAlpha(fill.alpha, "Normal")
		style = "F"
	}
	if !l.none() && l.width > 0 {
		c := l.on(s.dark)
		s.doc.SetDrawColor(int(c.R), int(c.G), int(c.B))
		s.doc.SetLineWidth(l.width)
		s.doc.SetDashPattern(l.dash, 0)
		if style == "" {
			s.doc.SetAlpha(l.alpha, "Normal")
		}
		style += "D"
	}
	return style
}

// paint paints what is filled and stroked in two steps where the two differ in
// opacity.
func (s *pdf) paint(fill ink, l stroke, draw func(style string)) {
	if !fill.none() && !l.none() && fill.alpha != l.alpha {
		draw(s.inks(fill, stroke{}))
		fill = ink{}
	}
	if style := s.inks(fill, l); style != "" {
		draw(style)
	}
}

func (s *pdf) poly(p []point, closed bool, fill ink, l stroke) {
	if len(p) == 0 {
		return
	}
	s.paint(fill, l, func(style string) {
		s.doc.MoveTo(p[0].x, p[0].y)
		for _, q := range p[1:] {
			s.doc.LineTo(q.x, q.y)
		}
		if closed {
			s.doc.ClosePath()
		}
		s.doc.DrawPath(style)
	})
}

func (s *pdf) dot(at point, r float64, fill ink, l stroke) {
	s.paint(fill, l, func(style string) {
		s.doc.MoveTo(at.x+r, at.y)
		for _, q := range quarters(at, r) {
			s.doc.CurveBezierCubicTo(q[0].x, q[0].y, q[1].x, q[1].y, q[2].x, q[2].y)
		}
		s.doc.ClosePath()
		s.doc.DrawPath(style)
	})
}

func (s *pdf) text(at point, t string, f face, a align, up bool, c ink) {
	if t == "" || c.none() {
		return
	}
	weight := ""
	if f.bold {
		weight = "B"
	}
	s.doc.SetFont("liberation", weight, f.size)
	n := c.on(s.dark)
	s.doc.SetTextColor(int(n.R), int(n.G), int(n.B))
	s.doc.SetAlpha(c.alpha, "Normal")
	shift := s.doc.GetStringWidth(t) * map[align]float64{middle: 0.5, right: 1}[a]
	if !up {
		s.doc.Text(at.x-shift, at.y, t)
		return
	}
	s.doc.TransformBegin()
	s.doc.TransformRotate(90, at.x, at.y)
	s.doc.Text(at.x-shift, at.y, t)
	s.doc.TransformEnd()
}

func (*pdf) open(mark) {}
func (*pdf) close()    {}
