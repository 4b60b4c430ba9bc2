package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// waterfall shows what an engine is made of: its whole time, and below it what goes
// with each mechanism, each beginning where the one above ended.
func waterfall(d *view.Data, o Options) (*picture, error) {
	x := pickWaterfall(d, o)
	if x == nil {
		return nil, fmt.Errorf("%w: nothing was taken away from an engine (plimsoll ablate)", ErrNoData)
	}
	base := x.Base.Median.Value
	var sp span
	sp.add(0)
	sp.add(base)
	for _, s := range x.Steps {
		if s.Chain != nil && s.After != nil && s.After.Median != nil {
			before := x.Before(&s)
			sp.add(max(s.After.Median.Value, before))
			if s.Chain.Lo != nil {
				_, hi := goneBetween(&s, before)
				sp.add(hi)
			}
		}
	}
	unit := x.Metric.Unit
	c := &rowChart{axis: sp.axis(unit), rowH: 17}
	c.axis.in(words.UnitFor(unit, []float64{base}))
	c.axis.lo, c.axis.hi = 0, max(sp.hi*1.01, 1)
	c.label = strings.ToLower(words.Clean(x.Metric.Title)) + ", " + c.axis.unit
	c.cols = []column{{head: c.axis.unit, right: true}, {head: "95 %", optional: true}, {head: "of all", right: true}}
	p := &picture{
		title: "What " + words.Clean(x.Engine) + isMadeOf(x),
		sub:   []string{fmt.Sprintf("Each row is what goes with it, one after the other; workload %s, %s, %d blocks", words.Clean(x.Workload), words.Clean(x.Base.Env), x.Blocks)},
		notes: []string{"Lines are 95 % intervals of what goes with it. A step without a measurable cost is pale."},
	}
	p.legend = append(p.legend, swatch("what is left", wholeInk), swatch("goes with it", goneInk))
	if x.Rate() {
		p.legend[0], p.legend[1] = swatch("what there was", wholeInk), swatch("comes without it", goneInk)
		p.sub[0] = strings.Replace(p.sub[0], "goes with it", "is gained without it", 1)
		p.notes[0] = "Lines are 95 % intervals of what is gained. A step without a measurable cost is pale."
	}
	p.addLevel(c, "everything", x.Base.Median.Value)
	for i := range x.Steps {
		p.addTaken(c, x, &x.Steps[i])
	}
	if x.Floor.Median != nil {
		p.addLevel(c, x.End(), x.Floor.Median.Value)
	}
	return p.table(c, o), nil
}

var wholeInk, goneInk = palette[0], palette[1]

// isMadeOf: a start is made of what its engine does, a running workload is not.
func isMadeOf(x *ablation.Waterfall) string {
	if x.Running() && len(x.Parts) == 0 {
		return " costs"
	}
	return " is made of"
}

func pickWaterfall(d *view.Data, o Options) *ablation.Waterfall {
	for _, x := range d.Ablations {
		if (o.Workload == "" || x.Workload == o.Workload) && (o.Metric == "" || x.Metric.ID == o.Metric) && x.Base.Median != nil {
			return x
		}
	}
	return nil
}

// addLevel is a whole: what was there at the beginning, or is left at the end.
func (p *picture) addLevel(c *rowChart, name string, v float64) {
	r := chartRow{name: name, cells: []string{amount(v, c.axis.by), "", ""}}
	r.mark = mark{class: "step", title: fmt.Sprintf("%s: %s %s", name, r.cells[0], c.axis.unit), data: [][2]string{{"value", strconv.FormatFloat(v, 'g', -1, 64)}}}
	r.draw = func(s surface, y float64) {
		rect(s, box{c.axis.at(0), y - 5.5, c.axis.at(v) - c.axis.at(0), 11}, wholeInk)
	}
	c.rows = append(c.rows, r)
}

// addTaken is a step: it ends where what is left after it begins.
func (p *picture) addTaken(c *rowChart, x *ablation.Waterfall, s *ablation.Step) {
	r := chartRow{name: words.Clean(x.Name(*s))}
	r.mark = mark{class: "step"}
	if s.Chain == nil || s.After == nil || s.After.Median == nil {
		r.missing = "n/a: " + words.Clean(s.Missing)
		r.mark.title = r.name + ": " + r.missing
		c.rows = append(c.rows, r)
		return
	}
	sure := s.Chain.Lo != nil && (*s.Chain.Lo > 0 || *s.Chain.Hi < 0)
	interval, share := "", ""
	if s.Chain.Lo != nil {
		interval = minus(words.NumberOf(*s.Chain, c.axis.by, 2).Interval)
	}
	if sure {
		share = minus(fmt.Sprintf("%.0f %%", 100*s.Share))
	}
	r.cells = []string{minus(words.NumberOf(sample.Estimate{Value: s.Chain.Value}, c.axis.by, 2).Value), interval, share}
	r.mark.title = strings.Join(strings.Fields(fmt.Sprintf("%s: %s %s %s %s", r.name, r.cells[0], c.axis.unit, interval, share)), " ")
	r.mark.data = [][2]string{{"value", strconv.FormatFloat(s.Chain.Value, 'g', -1, 64)}}
	before := x.Before(s)
	r.draw = func(sf surface, y float64) { drawTaken(sf, c, s, before, sure, y) }
	c.rows = append(c.rows, r)
}

func drawTaken(sf surface, c *rowChart, s *ablation.Step, before float64, sure bool, y float64) {
	left, cost := s.After.Median.Value, s.Chain.Value
	from, to := c.axis.at(min(left, before)), c.axis.at(max(left, before))
	colour := goneInk
	if !sure || cost < 0 {
		colour.light, colour.dark = blend(colour.light, paper.light, 0.6), blend(colour.dark, paper.dark, 0.6)
	}
	rest := wholeInk
	rest.light, rest.dark = blend(rest.light, paper.light, 0.75), blend(rest.dark, paper.dark, 0.75)
	rect(sf, box{c.axis.at(0), y - 5.5, max(from-c.axis.at(0), 0), 11}, rest)
	rect(sf, box{from, y - 5.5, math.Max(to-from, 0.8), 11}, colour)
	if s.Chain.Lo != nil {
		lo, hi := goneBetween(s, before)
		a, b := c.axis.at(max(0, lo)), c.axis.at(max(0, hi))
		line(sf, a, y, b, y, stroke{ink: black, width: 0.8})
	}
}

// goneBetween is where the interval of what goes with a step lies on the axis.
func goneBetween(s *ablation.Step, before float64) (lo, hi float64) {
	from := s.After.Median.Value
	if before < from && s.Chain.Value > 0 { // a rate: what is gained ends at what is reached
		from = before
	}
	return from + *s.Chain.Lo, from + *s.Chain.Hi
}
