package plot

import (
	"cmp"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/understand/words"
)

// axis turns stored values into places: x from left to right, y upwards where
// from is below to.
type axis struct {
	lo, hi   float64
	log      bool
	whole    bool    // it counts: no label between whole numbers
	from, to float64 // points
	unit     string  // the multiple in which labels are
	by       float64 // and its size
}

// span collects what an axis has to show.
type span struct {
	lo, hi float64
	all    []float64
}

func (s *span) add(values ...float64) {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		if len(s.all) == 0 {
			s.lo, s.hi = v, v
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		s.all = append(s.all, v)
	}
}

func (s *span) addEach(values ...*float64) {
	for _, v := range values {
		if v != nil {
			s.add(*v)
		}
	}
}

// axis shows the span with a little room at both ends: logarithmic over a
// decade, else from 0 on where the smallest is less than half of the largest.
func (s *span) axis(unit string) axis {
	u := words.UnitFor(unit, s.all)
	a := axis{lo: s.lo, hi: s.hi, unit: u.Name, by: u.By}
	switch {
	case len(s.all) == 0:
		a.hi = u.By
	case s.lo > 0 && s.hi > 10*s.lo:
		a.log = true
		pad := math.Pow(s.hi/s.lo, 0.04)
		a.lo, a.hi = s.lo/pad, s.hi*pad
	default:
		if s.lo > 0 && s.lo < s.hi/2 {
			a.lo = 0
		}
		pad := cmp.Or((s.hi-a.lo)*0.05, math.Abs(s.hi)/20, u.By)
		if a.lo != 0 {
			a.lo -= pad
		}
		a.hi += pad
	}
	return a
}

// linear shows the span from 0 on, whatever it spans.
func (s *span) linear(unit string) axis {
	u := words.UnitFor(unit, s.all)
	a := axis{lo: min(0, s.lo), hi: max(s.hi, 0) * 1.04, unit: u.Name, by: u.By}
	if a.hi <= a.lo {
		a.hi = a.lo + u.By
	}
	return a
}

// place gives the axis its length.
func (a axis) place(from, to float64) axis { a.from, a.to = from, to; return a }

// at is the place of a value. Values beyond the ends lie beyond them.
func (a axis) at(v float64) float64 {
	f := (v - a.lo) / (a.hi - a.lo)
	if a.log {
		f = math.Log(v/a.lo) / math.Log(a.hi/a.lo)
	}
	return a.from + f*(a.to-a.from)
}

func (a axis) inside(v float64) bool { return v >= a.lo && v <= a.hi }

type tick struct {
	at    float64
	label string
}

// ticks are as many as have room: room is what a label takes along the axis.
func (a axis) ticks(room func(string) float64) []tick {
	var best []tick
	for _, values := range a.candidates() {
		var out []tick
		fits := true
		for i, v := range values {
			t := tick{a.at(v), tickLabel(v / a.by)}
			if i > 0 {
				prev := out[i-1]
				fits = fits && math.Abs(t.at-prev.at) >= (room(t.label)+room(prev.label))/2
			}
			out = append(out, t)
		}
		if fits && len(out) > len(best) && len(out) <= 11 {
			best = out
		}
	}
	return best
}

// candidates are lists of values that are round in the axis's unit.
func (a axis) candidates() [][]float64 {
	var out [][]float64
	add := func(values []float64) {
		if len(values) > 0 {
			out = append(out, values)
		}
	}
	if a.log {
		from, to := math.Floor(math.Log10(a.lo/a.by)), math.Ceil(math.Log10(a.hi/a.by))
		for _, steps := range [][]float64{{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1}} {
			for every := 1.0; every <= 4; every++ {
				var values []float64
				for p := math.Ceil(from/every) * every; p <= to; p += every {
					for _, m := range steps {
						if v := m * math.Pow(10, p) * a.by; a.inside(v) && (every == 1 || m == 1) {
							values = append(values, v)
						}
					}
				}
				add(values)
			}
		}
		return out
	}
	lo, hi := a.lo/a.by, a.hi/a.by
	top := math.Floor(math.Log10(hi - lo))
	for p := top; p >= top-2; p-- {
		for _, m := range []float64{5, 2.5, 2, 1} {
			step := m * math.Pow(10, p)
			if (hi-lo)/step > 12 || a.whole && step != math.Trunc(step) {
				continue
			}
			var values []float64
			for k := math.Ceil(lo/step - 1e-9); k*step <= hi+step*1e-9; k++ {
				values = append(values, k*step*a.by)
			}
			add(values)
		}
	}
	return out
}

// tickLabel writes a round number.
func tickLabel(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	switch m := math.Abs(v); {
	case v == 0:
		return "0"
	case m >= 1e6 || m < 1e-4:
		return minus(strconv.FormatFloat(v, 'g', 3, 64))
	}
	return minus(strconv.FormatFloat(v, 'f', -1, 64))
}

// minus writes a hyphen before digits as the sign that it is. The en dash is
// in every font that pictures are written in.
func minus(s string) string { return strings.ReplaceAll(s, "-", "–") }

// alongX and alongY say how much room a label takes.
func alongX(s string) float64 { return smallFace.width(s) + 10 }

func alongY(string) float64 { return 16 }

// in shows the axis in a unit.
func (a *axis) in(u words.Unit) { a.unit, a.by = u.Name, u.By }
