package plot

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// heat is a heat map being laid out: a row for each environment, a column for
// each workload and each mean over several.
type heat struct {
	rows  []string
	looks []look
	ids   []string
	cols  []heatCol

	nameW, colW, headH float64
	upright            bool // column names are turned
}

type heatCol struct {
	name  string
	mean  bool
	cells map[string]*analyze.OverheadCell
}

const (
	heatRow  = 17.0
	heatCell = 27.0 // room for the longest number
)

// heatmap shows overheads, environments by workloads.
func heatmap(d *view.Data, o Options) (*picture, error) {
	i := slices.IndexFunc(d.Overheads, func(x analyze.Overhead) bool { return o.Baseline == "" || x.Baseline == o.Baseline })
	if i < 0 {
		if o.Baseline != "" {
			return nil, noData("this run has no overheads against %q", o.Baseline)
		}
		return nil, noData("this run has no overheads: no baseline ran")
	}
	ov := &d.Overheads[i]
	h := newHeat(d, ov, o)
	if len(h.rows) == 0 || len(h.cols) == 0 {
		return nil, noData("this run has no overheads against %s", ov.Baseline)
	}
	p := &picture{
		title: "Overhead against " + words.Clean(ov.Baseline) + ", %",
		sub:   []string{"0: as fast as " + words.Clean(ov.Baseline) + "; 50: half as fast; below 0: faster"},
		notes: []string{fmt.Sprintf("= equal for practical purposes (within %.3g %%), ~ cannot tell yet. Overhead is 1 minus the speed relative to the baseline (Silva et al. 2024), each workload by its first metric; means are geometric. The colours go by the root of the overhead.", 100*d.Run.Delta)},
	}
	for _, v := range []float64{-1, -0.25, -0.05, 0, 0.05, 0.25, 1} {
		text := percent(v)
		if v == -1 {
			text += " or less"
		}
		p.legend = append(p.legend, swatch(text, diverging(v)))
	}
	why := h.reasons()
	if !h.any() {
		return nil, noData("no overhead against %s can be formed: %s", ov.Baseline, strings.Join(why, "; "))
	}
	p.notes = append(p.notes, why...)
	h.layOut(o)
	for r := range h.rows {
		var words []string
		for _, c := range h.cols {
			if cell := c.cells[h.ids[r]]; !notAsked(cell) {
				words = append(words, c.name+" "+cellText(cell)+cellSign(cell))
			}
		}
		p.desc = append(p.desc, h.rows[r]+": "+strings.Join(words, ", "))
	}
	p.minWidth = 2*margin + h.nameW + h.colW*float64(len(h.cols))
	p.height = h.headH + heatRow*float64(len(h.rows))
	p.body = h.draw
	return p, nil
}

func newHeat(d *view.Data, ov *analyze.Overhead, o Options) *heat {
	h := &heat{}
	column := func(name string, mean bool, cells []analyze.OverheadCell) {
		c := heatCol{name: words.Clean(name), mean: mean, cells: map[string]*analyze.OverheadCell{}}
		for i := range cells {
			c.cells[cells[i].Env] = &cells[i]
		}
		h.cols = append(h.cols, c)
	}
	for _, r := range ov.Rows {
		if o.Workload == "" || o.Workload == r.Workload {
			column(r.Workload, false, r.Cells)
		}
	}
	for _, s := range ov.Suites {
		has := slices.ContainsFunc(s.Cells, func(c analyze.OverheadCell) bool { return c.Overhead != nil })
		if o.Workload == "" && has {
			name := "mean of all"
			if s.Name != analyze.AllRows {
				name = "mean of " + s.Name
			}
			column(name, true, s.Cells)
		}
	}
	envLooks := looks(d)
	for _, id := range ov.Environments {
		asked := slices.ContainsFunc(h.cols, func(c heatCol) bool {
			return !notAsked(c.cells[id])
		})
		if e := slices.IndexFunc(d.Envs, func(e view.Env) bool { return e.ID == id }); e >= 0 && asked {
			h.rows, h.looks, h.ids = append(h.rows, d.EnvLabel(e)), append(h.looks, envLooks[e]), append(h.ids, id)
		}
	}
	return h
}

// layOut finds the sizes; names of columns are turned where they are long.
func (h *heat) layOut(o Options) {
	width := o.Width - 2*margin
	for _, r := range h.rows {
		h.nameW = max(h.nameW, nameFace.width(r)+16)
	}
	h.nameW = min(h.nameW, width*0.34)
	h.colW = min(max((width-h.nameW)/float64(len(h.cols)), heatCell), 110)
	longest := 0.0
	for _, c := range h.cols {
		longest = max(longest, smallFace.width(c.name))
	}
	h.upright = longest > h.colW-4
	h.headH = 14
	if h.upright {
		h.headH = min(longest, 170) + 8
	}
}

func (h *heat) draw(s surface, b box) {
	rowH := (b.h - h.headH) / float64(len(h.rows))
	for k, c := range h.cols {
		x := b.x + h.nameW + h.colW*(float64(k)+0.5)
		if h.upright {
			s.text(point{x + 3, b.y + h.headH - 4}, smallFace.fit(c.name, h.headH-6), smallFace, left, true, black)
		} else {
			s.text(point{x, b.y + h.headH - 4}, c.name, smallFace, middle, false, black)
		}
	}
	for i, name := range h.rows {
		y := b.y + h.headH + rowH*float64(i)
		glyph(s, point{b.x + 3, y + rowH/2}, 2.6, h.looks[i].shape, h.looks[i].ink, stroke{})
		s.text(point{b.x + 10, y + rowH/2 + 3.1}, nameFace.fit(name, h.nameW-16), nameFace, left, false, black)
		for k, c := range h.cols {
			gap := 0.0
			if c.mean {
				gap = 2
			}
			h.drawCell(s, c, i, box{b.x + h.nameW + h.colW*float64(k) + gap, y + 0.5, h.colW - 1 - gap, rowH - 1})
		}
	}
}

func (h *heat) drawCell(s surface, c heatCol, row int, b box) {
	cell := c.cells[h.ids[row]]
	if notAsked(cell) {
		return
	}
	m := mark{class: "cell", title: h.rows[row] + ", " + c.name + ": " + cellText(cell) + cellSign(cell),
		data: [][2]string{{"env", words.Clean(h.ids[row])}, {"workload", c.name}}}
	fill, ink := stripe, muted
	if cell.Overhead != nil {
		v := cell.Overhead.Value
		fill = diverging(v)
		ink = onColour(fill)
		m.data = append(m.data, [2]string{"value", strconv.FormatFloat(v, 'g', -1, 64)})
		if lo, hi := cell.Overhead.Lo, cell.Overhead.Hi; lo != nil && hi != nil {
			m.title += fmt.Sprintf(" [%s, %s]", percent(*lo), percent(*hi))
		}
	}
	s.open(m)
	rect(s, b, fill)
	f := smallFace
	text := cellText(cell) + cellSign(cell)
	if f.width(text) > b.w-1 {
		f, text = tinyFace, cellText(cell)
	}
	s.text(point{b.x + b.w/2, b.y + b.h/2 + 2.8}, text, f, middle, false, ink)
	s.close()
}

func cellText(c *analyze.OverheadCell) string {
	switch {
	case notAsked(c):
		return ""
	case c.Overhead == nil:
		return "n/a"
	}
	return percent(c.Overhead.Value)
}

func cellSign(c *analyze.OverheadCell) string {
	switch {
	case c.Overhead == nil:
	case c.Verdict == analyze.Equal:
		return " ="
	case c.Verdict == analyze.CannotTell:
		return " ~"
	}
	return ""
}

// percent has two significant digits, and as many as tell a value from 100.
func percent(v float64) string {
	v *= 100
	d := 0
	switch m := math.Abs(v); {
	case m == 0:
	case m < 1:
		d = 2
	case m < 10, m >= 99 && m < 100:
		d = 1
	}
	s := strconv.FormatFloat(v, 'f', d, 64)
	if strings.Trim(s, "-0.") == "" {
		s = "0"
	}
	return minus(s)
}

// reasons says why cells are missing.
func (h *heat) reasons() []string {
	var r reasons
	empty, means := false, false
	for i, id := range h.ids {
		for _, c := range h.cols {
			switch cell := c.cells[id]; {
			case c.mean:
				means = means || cell != nil && cell.Overhead == nil
			case notAsked(cell):
				empty = true
			case cell.Overhead == nil:
				r.add(h.rows[i]+" in "+c.name, cell.Missing)
			}
		}
	}
	out := r.lines(4)
	if means {
		out = append(out, "A mean is n/a where one of its workloads is.")
	}
	if empty {
		out = append(out, "Empty: the study does not ask for it.")
	}
	return out
}

// any says whether there is a number.
func (h *heat) any() bool {
	return slices.ContainsFunc(h.cols, func(c heatCol) bool {
		for _, cell := range c.cells {
			if cell.Overhead != nil {
				return true
			}
		}
		return false
	})
}

func notAsked(c *analyze.OverheadCell) bool {
	return c == nil || c.Overhead == nil && c.Missing == analyze.NotAsked
}
