package plot

import "image/color"

// surface is what a picture is drawn on. Lengths are points, from the upper
// left corner.
type surface interface {
	// poly draws through points: filled, stroked or both.
	poly(p []point, closed bool, fill ink, line stroke)
	dot(at point, r float64, fill ink, line stroke)
	// text stands on its baseline; up turns it to be read upwards.
	text(at point, s string, f face, a align, up bool, c ink)
	// open begins a group that stands for something; close ends it.
	open(m mark)
	close()
}

type point struct{ x, y float64 }

type box struct{ x, y, w, h float64 }

func (b box) right() float64  { return b.x + b.w }
func (b box) bottom() float64 { return b.y + b.h }

// ink is a colour on light and on dark ground. The zero value draws nothing.
type ink struct {
	light, dark color.NRGBA
	alpha       float64
}

func (i ink) none() bool { return i.alpha == 0 }

// thin is the same ink, less opaque.
func (i ink) thin(alpha float64) ink { i.alpha = alpha; return i }

// on is the colour on a ground.
func (i ink) on(dark bool) color.NRGBA {
	c := i.light
	if dark {
		c = i.dark
	}
	c.A = uint8(i.alpha*255 + 0.5)
	return c
}

type stroke struct {
	ink
	width float64
	dash  []float64
}

type align int

const (
	left align = iota
	middle
	right
)

// mark says what a group stands for, in words for a reader and in numbers for
// another program.
type mark struct {
	class string
	title string
	data  [][2]string // data-… attributes
}

func rect(s surface, b box, fill ink) {
	s.poly([]point{{b.x, b.y}, {b.right(), b.y}, {b.right(), b.bottom()}, {b.x, b.bottom()}}, true, fill, stroke{})
}

func line(s surface, x1, y1, x2, y2 float64, l stroke) {
	s.poly([]point{{x1, y1}, {x2, y2}}, false, ink{}, l)
}

// glyph is the mark of a value: the shape tells groups of one colour apart.
func glyph(s surface, at point, r float64, shape int, c ink, l stroke) {
	switch shape % 4 {
	case 0:
		s.dot(at, r, c, l)
	case 1:
		r *= 0.9
		s.poly([]point{{at.x - r, at.y - r}, {at.x + r, at.y - r}, {at.x + r, at.y + r}, {at.x - r, at.y + r}}, true, c, l)
	case 2:
		r *= 1.2
		s.poly([]point{{at.x, at.y - r}, {at.x + r, at.y + r*0.8}, {at.x - r, at.y + r*0.8}}, true, c, l)
	default:
		r *= 1.25
		s.poly([]point{{at.x, at.y - r}, {at.x + r, at.y}, {at.x, at.y + r}, {at.x - r, at.y}}, true, c, l)
	}
}

// cross marks a failure.
func cross(s surface, at point, r float64, l stroke) {
	line(s, at.x-r, at.y-r, at.x+r, at.y+r, l)
	line(s, at.x-r, at.y+r, at.x+r, at.y-r, l)
}
