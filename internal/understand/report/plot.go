package report

import (
	"math"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// axis is a logarithmic axis of a number of characters, or a linear one.
type axis struct {
	lo, hi float64 // logarithms, unless it is linear
	cells  int
	linear bool
}

// minPlot is the fewest characters in which a picture says anything.
const minPlot = 16

// axisFor spans all medians and intervals; false where there is nothing
// positive to show, or all is one point.
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
	if !(hi > lo) || n < minPlot {
		return axis{}, false
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
	return string(line)
}

// ticks writes the labels of the axis: powers of ten, or 1-2-5 where those
// are fewer than two.
func (a axis) ticks(s words.Unit) string {
	if a.linear {
		return a.linearTicks(s)
	}
	for _, steps := range [][]float64{{1}, {1, 2, 5}, {1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}} {
		line := []rune(strings.Repeat(" ", a.cells))
		placed, free := 0, 0
		from := math.Floor((a.lo - math.Log(s.By)) / math.Ln10)
		for p := from; p <= from+20; p++ {
			for _, m := range steps {
				v := m * math.Pow(10, p)
				l := math.Log(v * s.By)
				if l < a.lo || l > a.hi {
					continue
				}
				label := []rune(words.Short(v))
				at := a.at(v * s.By)
				if at < free || at+len(label) > a.cells {
					continue
				}
				copy(line[at:], label)
				free = at + len(label) + 1
				placed++
			}
		}
		if placed >= 2 {
			return strings.TrimRight(string(line), " ")
		}
	}
	return ""
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
	line := []rune(strings.Repeat(" ", a.cells))
	free := 0
	for k := math.Ceil(a.lo / s.By / step); k*step*s.By <= a.hi; k++ {
		label := []rune(words.Short(k * step))
		at := a.at(k * step * s.By)
		if at >= free && at+len(label) <= a.cells {
			copy(line[at:], label)
			free = at + len(label) + 1
		}
	}
	return strings.TrimRight(string(line), " ")
}
