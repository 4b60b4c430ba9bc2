package report

import (
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// axis is a logarithmic axis of a number of characters, or a linear one.
type axis struct {
	lo, hi float64 // logarithms, unless it is linear
	cells  int
	linear bool
	// base is the baseline's median, where a line stands in every row; 0 is none.
	base float64
	name string // the baseline's
}

// minPlot is the fewest characters in which a picture says anything.
const minPlot = 16

// leastSpan is the least factor that an axis spans: what differs by less looks as
// close as it is.
const leastSpan = 1.25

// axisFor spans all medians and intervals, and at least the least span around them;
// false where there is nothing positive to show.
func axisFor(cells []*analyze.Cell, n int) (axis, bool) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range cells {
		for _, v := range ends(c) {
			if v <= 0 {
				return axis{}, false
			}
			lo, hi = min(lo, math.Log(v)), max(hi, math.Log(v))
		}
	}
	if !(hi >= lo) || n < minPlot {
		return axis{}, false
	}
	if lacks := math.Log(leastSpan) - (hi - lo); lacks > 0 {
		lo, hi = lo-lacks/2, hi+lacks/2
	}
	return axis{lo: lo, hi: hi, cells: n}, true
}

// linearAxisFor spans 0 and all medians and intervals, for what can be 0: a curve
// of how busy something is.
func linearAxisFor(cells []*analyze.Cell, n int) (axis, bool) {
	a := axis{cells: n, linear: true}
	for _, c := range cells {
		for _, v := range ends(c) {
			a.lo, a.hi = min(a.lo, v), max(a.hi, v)
		}
	}
	return a, a.hi > a.lo && n >= minPlot
}

// ends gives lower end, median, upper end.
func ends(c *analyze.Cell) []float64 {
	if c == nil || c.Median == nil {
		return nil
	}
	m := c.Median
	if m.Lo == nil || m.Hi == nil {
		return []float64{m.Value, m.Value, m.Value}
	}
	return []float64{*m.Lo, m.Value, *m.Hi}
}

func (a axis) at(v float64) int {
	if !a.linear {
		v = math.Log(v)
	}
	f := (v - a.lo) / (a.hi - a.lo)
	return min(max(int(math.Round(f*float64(a.cells-1))), 0), a.cells-1)
}

// mark draws a cell: the interval as ├─●─┤, a dotted line leading to it.
func (a axis) mark(c *analyze.Cell) string {
	e := ends(c)
	if e == nil {
		return ""
	}
	lo, mid, hi := a.at(e[0]), a.at(e[1]), a.at(e[2])
	line := []rune(strings.Repeat("·", lo) + strings.Repeat("─", hi-lo+1))
	line[lo], line[hi] = '├', '┤'
	line[mid] = '●'
	return string(a.crossed(line))
}

// crossed puts the baseline's line into a row, wherever nothing is drawn.
func (a axis) crossed(line []rune) []rune {
	if a.base <= 0 {
		return line
	}
	x := a.at(a.base)
	for len(line) <= x {
		line = append(line, ' ')
	}
	if line[x] == ' ' || line[x] == '·' {
		line[x] = '│'
	}
	return line
}

// onBaseline has the baseline's line at its value: that of the first baseline which
// has one.
func (a axis) onBaseline(r *ranking) axis {
	for _, name := range analyze.Baselines {
		n := 0
		for _, c := range r.cells() {
			if c.Median != nil && c.Ratio(name) != nil && c.Ratio(name).Env == c.Env && len(r.cells()) > 1 {
				a.base, a.name = c.Median.Value, c.Env
				n++
			}
		}
		if n == 1 {
			return a
		}
		a.base = 0
		if n > 1 {
			return a // each is the baseline of some
		}
	}
	return a
}

// ticks writes the labels of the axis: powers of ten, or 1-2-5 where those are fewer
// than two, else round numbers as far apart as labels need.
func (a axis) ticks(s words.Unit) string {
	if a.linear {
		return a.linearTicks(s)
	}
	for _, steps := range [][]float64{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}} {
		var at []float64
		from := math.Floor((a.lo - math.Log(s.By)) / math.Ln10)
		for p := from; p <= from+20; p++ {
			for _, m := range steps {
				at = append(at, m*math.Pow(10, p))
			}
		}
		if line, placed := a.labels(s, at); placed >= 2 {
			return line
		}
	}
	lo, hi := math.Exp(a.lo)/s.By, math.Exp(a.hi)/s.By
	step, one := math.Pow(10, math.Ceil(math.Log10(hi-lo))), ""
	for range 4 {
		for _, by := range []float64{1, 0.5, 0.2} {
			var at []float64
			for k := math.Ceil(lo / (step * by)); k*step*by <= hi; k++ {
				at = append(at, k*step*by)
			}
			line, placed := a.labels(s, at)
			if placed >= 2 {
				return line
			} else if one == "" {
				one = line // where long numbers leave no room for two
			}
		}
		step /= 10
	}
	return one
}

// labels writes numbers at their places, as many as have room, each once.
func (a axis) labels(s words.Unit, at []float64) (line string, placed int) {
	out := []rune(strings.Repeat(" ", a.cells))
	free, last := 0, ""
	for _, v := range at {
		if l := math.Log(v * s.By); !a.linear && (l < a.lo-1e-9 || l > a.hi+1e-9) {
			continue
		}
		label := tick(v)
		x := a.at(v * s.By)
		if x < free || x+len(label) > a.cells || label == last {
			continue
		}
		copy(out[x:], []rune(label))
		free, last = x+len(label)+1, label
		placed++
	}
	return strings.TrimRight(string(out), " "), placed
}

// tick is a round number as it is: a label that was rounded would stand in the wrong
// place, and might stand there twice.
func tick(v float64) string {
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// linearTicks are 0 and round numbers as far apart as labels need.
func (a axis) linearTicks(s words.Unit) string {
	const room = 8 // characters for a label
	step := math.Pow(10, math.Floor(math.Log10((a.hi-a.lo)/s.By)))
	for _, by := range []float64{0.1, 0.2, 0.5, 1, 2, 5} {
		if at := by * step * s.By / (a.hi - a.lo) * float64(a.cells-1); at >= room {
			step *= by
			break
		}
	}
	var at []float64
	for k := math.Ceil(a.lo / s.By / step); k*step*s.By <= a.hi; k++ {
		at = append(at, k*step)
	}
	line, _ := a.labels(s, at)
	return line
}
