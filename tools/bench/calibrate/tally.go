package calibrate

import (
	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/understand/analyze/sample"
)

// Tally counts over repetitions.
type Tally struct {
	N   int `json:"n"`
	Hit int `json:"hit"`
	// Width is the mean of the intervals' widths, upper over lower end less 1,
	// where intervals are counted.
	Width float64 `json:"width,omitempty"`
}

func (t *Tally) add(hit bool) {
	t.N++
	if hit {
		t.Hit++
	}
}

// interval counts an interval; where there is none it holds nothing.
func (t *Tally) interval(e *sample.Estimate, truth float64) {
	width := 0.0
	hit := e != nil && e.Lo != nil
	if hit {
		hit, width = *e.Lo <= truth && truth <= *e.Hi, *e.Hi / *e.Lo - 1
	}
	t.add(hit)
	t.Width += (width - t.Width) / float64(t.N)
}

func (t *Tally) join(o Tally) {
	if t.N+o.N > 0 {
		t.Width = (t.Width*float64(t.N) + o.Width*float64(o.N)) / float64(t.N+o.N)
	}
	t.N, t.Hit = t.N+o.N, t.Hit+o.Hit
}

// Rate is the share of hits.
func (t Tally) Rate() float64 { return float64(t.Hit) / float64(max(1, t.N)) }

// doubt is the chance at which a count is held to be no accident: one in a
// thousand.
const doubt = 0.001

// AtLeast says whether a true rate of p can give so few hits: their number has
// a chance of at least one in a thousand under it.
func (t Tally) AtLeast(p float64) bool {
	return t.N > 0 && distuv.Binomial{N: float64(t.N), P: p}.CDF(float64(t.Hit)) >= doubt
}

// AtMost says whether a true rate of p can give so many.
func (t Tally) AtMost(p float64) bool {
	return t.N > 0 && (t.Hit == 0 || 1-distuv.Binomial{N: float64(t.N), P: p}.CDF(float64(t.Hit-1)) >= doubt)
}
