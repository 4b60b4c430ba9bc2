package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// phases are stacked bars from the request to removed.
func phases(d *view.Data, o Options) (*picture, error) {
	w, err := pickWork(d, o, func(w *view.Work) bool { return w.Phases != nil && len(w.Phases.Steps) > 0 }, "phases of a life cycle")
	if err != nil {
		return nil, err
	}
	ph := w.Phases
	var sp span
	sp.add(0)
	for _, steps := range ph.Medians {
		if sum, ok := total(steps); ok {
			sp.add(sum)
		}
	}
	c := &rowChart{axis: sp.axis("ns"), rowH: 19}
	c.axis.in(words.UnitFor("ns", view.Known(slices.Concat(ph.Medians...))))
	c.axis.lo, c.axis.hi = 0, max(sp.hi*1.01, 1)
	c.label = "time since the request, " + c.axis.unit
	c.cols = []column{{head: "sum, " + c.axis.unit, right: true}}
	p := &picture{
		title: "Phases of a life cycle: " + w.Label(),
		sub:   []string{"Medians of the steps from request to removed; workload " + words.Clean(w.ID)},
		notes: []string{"The sum of medians is not the median of the whole."},
	}
	for i, st := range ph.Steps {
		p.legend = append(p.legend, swatch(stepName(st), stepInk(i)))
	}
	envLooks := looks(d)
	for _, e := range phaseRows(d, w) {
		p.addPhases(c, d, w, e, envLooks[e])
	}
	return p.table(c, o), nil
}

func stepName(s view.Step) string {
	if t := words.Clean(s.Title); t != "" {
		return t
	}
	return string(s.From) + " to " + string(s.To)
}

// steps have the palette's colours in an order in which neighbours differ in
// lightness, too.
var stepInks = []ink{palette[0], palette[3], palette[2], palette[4], palette[5], palette[1], both(0x737b85, 0x8b949e), palette[6]}

// stepInk is the colour of a step. The ninth is the first again, lighter.
func stepInk(i int) ink {
	c := stepInks[i%len(stepInks)]
	if i >= len(stepInks) {
		c.light, c.dark = blend(c.light, paper.light, 0.5), blend(c.dark, paper.dark, 0.5)
	}
	return c
}

// total is the sum of the steps that there are.
func total(steps []*float64) (sum float64, ok bool) {
	for _, v := range steps {
		if v != nil {
			sum, ok = sum+*v, true
		}
	}
	return sum, ok
}

// phaseRows are the environments, the quickest first, then those without steps.
func phaseRows(d *view.Data, w *view.Work) []int {
	var have, rest []int
	for e := range d.Envs {
		if _, ok := total(view.At(w.Phases.Medians, e)); ok {
			have = append(have, e)
		} else if noPhases(d, w, e) != analyze.NotAsked {
			rest = append(rest, e)
		}
	}
	slices.SortStableFunc(have, func(a, b int) int {
		x, _ := total(w.Phases.Medians[a])
		y, _ := total(w.Phases.Medians[b])
		return cmp.Compare(x, y)
	})
	return append(have, rest...)
}

// noPhases is why an environment has no step: what its first duration lacks.
func noPhases(d *view.Data, w *view.Work, e int) string {
	for i := range w.Tables {
		if t := &w.Tables[i]; t.Metric.From != "" && view.At(t.Missing, e) != "" {
			return view.At(t.Missing, e)
		}
	}
	for _, c := range w.Counts {
		if c.Env == d.Envs[e].ID && c.Missing != "" {
			return c.Missing
		}
	}
	return "no step was seen"
}

// addPhases adds the bar of one environment.
func (p *picture) addPhases(c *rowChart, d *view.Data, w *view.Work, e int, l look) {
	r := chartRow{name: d.EnvLabel(e), look: l}
	r.mark = mark{class: "cell", data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}}}
	steps := view.At(w.Phases.Medians, e)
	sum, ok := total(steps)
	if !ok {
		r.missing = "n/a: " + words.Clean(noPhases(d, w, e))
		r.mark.title = r.name + ": " + r.missing
	} else {
		var words []string
		for i, v := range steps {
			if v != nil && i < len(w.Phases.Steps) {
				words = append(words, stepName(w.Phases.Steps[i])+" "+amount(*v, c.axis.by))
			}
		}
		r.cells = []string{amount(sum, c.axis.by)}
		r.mark.title = fmt.Sprintf("%s: %s %s (%s)", r.name, r.cells[0], c.axis.unit, strings.Join(words, ", "))
		r.mark.data = append(r.mark.data, [2]string{"value", strconv.FormatFloat(sum, 'g', -1, 64)})
		r.draw = func(s surface, y float64) { drawSteps(s, c, w.Phases, steps, y) }
	}
	c.rows = append(c.rows, r)
}

func drawSteps(s surface, c *rowChart, ph *view.Phases, steps []*float64, y float64) {
	sum := 0.0
	for i, v := range steps {
		if v == nil || i >= len(ph.Steps) {
			continue
		}
		// A step can be negative by the scatter of medians; it then takes no room.
		from, to := c.axis.at(sum), c.axis.at(sum+max(*v, 0))
		sum += max(*v, 0)
		s.open(mark{class: "step", title: stepName(ph.Steps[i]) + ": " + amount(*v, c.axis.by) + " " + c.axis.unit,
			data: [][2]string{{"value", strconv.FormatFloat(*v, 'g', -1, 64)}}})
		rect(s, box{from, y - 5.5, to - from, 11}, stepInk(i))
		if to-from > 2 {
			line(s, to, y-5.5, to, y+5.5, stroke{ink: paper, width: 0.6})
		}
		if text := amount(*v, c.axis.by); tinyFace.width(text)+5 < to-from {
			s.text(point{(from + to) / 2, y + 2.6}, text, tinyFace, middle, false, onColour(stepInk(i)))
		}
		s.close()
	}
}

// amount writes a value in a scale with three digits.
func amount(v, by float64) string {
	s := words.NumberOf(sample.Estimate{Value: v}, by, words.Full).Value
	return minus(s)
}
