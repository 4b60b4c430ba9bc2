package plot

import (
	"fmt"
	"math"
)

// trace is a line through values with their glyphs and whiskers, broken where a
// value is missing.
type trace struct {
	look
	line stroke
	r    float64 // of the glyphs
}

// tracePoint is one value in its place. A whisker goes from lo to hi, which are
// places on the axis; both 0 are none.
type tracePoint struct {
	at     point
	lo, hi float64
	gone   bool // there is no value
}

func (t trace) draw(s surface, list []tracePoint) {
	var run []point
	flush := func() {
		if len(run) > 1 {
			s.poly(run, false, ink{}, t.line)
		}
		run = nil
	}
	for _, p := range list {
		if p.gone || math.IsNaN(p.at.y) {
			flush()
			continue
		}
		run = append(run, p.at)
	}
	flush()
	for _, p := range list {
		if p.gone || math.IsNaN(p.at.y) {
			continue
		}
		if p.lo != 0 || p.hi != 0 {
			whisker(s, p.at.x, p.lo, p.hi, stroke{ink: t.ink, width: 0.9})
		}
		glyph(s, p.at, t.r, t.shape, t.ink, stroke{})
	}
}

// whisker is a vertical interval with its ends.
func whisker(s surface, x, lo, hi float64, l stroke) {
	line(s, x, lo, x, hi, l)
	for _, y := range []float64{lo, hi} {
		line(s, x-2, y, x+2, y, l)
	}
}

// maxPanels is how many panels one picture has at most.
const maxPanels = 12

// most leaves the panels that a picture has, and notes how to see the others.
func (p *picture) most(list []*panel, choose string) []*panel {
	n := len(list) - maxPanels
	if n <= 0 {
		return list
	}
	p.notes = append(p.notes, fmt.Sprintf("%d more panels are not drawn: %s.", n, choose))
	return list[:maxPanels]
}
