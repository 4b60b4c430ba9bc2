package plot

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// forestChart has the hosts of one ratio.
func forestChart(h *hosts.Hosts, t *hosts.Table, r *hosts.Row, c ink) *rowChart {
	var sp span
	for i := range r.Hosts {
		if a := &r.Hosts[i]; a.Missing == "" {
			sp.add(a.Value)
			sp.addEach(a.Lo, a.Hi)
		}
	}
	if p := r.Pooled; p != nil {
		sp.addEach(&p.Ratio.Value, p.Ratio.Lo, p.Ratio.Hi)
		if p.Next != nil {
			sp.addEach(p.Next.Lo, p.Next.Hi)
		}
	}
	u := words.UnitFor(t.Metric.Unit, t.Medians())
	own, base := words.Name(r.Env), words.Name(r.Against)
	out := &rowChart{axis: sp.axis(""), label: "× " + base}
	if out.axis.log {
		out.label += ", logarithmic"
	}
	for _, name := range []string{own, base} {
		out.cols = append(out.cols, column{head: tinyFace.fit(name, 60) + ", " + cmp.Or(u.Name, "value"), right: true})
	}
	out.cols = append(out.cols, column{head: "ratio", right: true}, column{head: "95 % interval", optional: true}, column{head: "blocks", right: true})
	if out.axis.inside(1) {
		out.guides = []guide{{base, 1, stroke{ink: muted, width: 0.8, dash: []float64{4, 2}}}}
	}
	if p := r.Pooled; p != nil {
		out.guides = append(out.guides, guide{"mean", p.Ratio.Value, stroke{ink: muted, width: 0.6, dash: []float64{1.5, 1.5}}})
	}
	for _, i := range forestOrder(r) {
		out.rows = append(out.rows, forestRow(out, h, t, r, i, u, look{ink: c}))
	}
	if len(r.Hosts) > manyHosts {
		out.rowH = 12
	}
	if p := r.Pooled; p != nil {
		out.rows = append(out.rows, allMachines(out, p, len(r.Hosts) > manyHosts))
	}
	return out
}

// forestOrder are the hosts as they are named, and many by their ratio.
func forestOrder(r *hosts.Row) []int {
	at := make([]int, len(r.Hosts))
	for i := range at {
		at[i] = i
	}
	if len(at) > manyHosts {
		slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(r.Hosts[a].Value, r.Hosts[b].Value) })
	}
	return at
}

func forestRow(c *rowChart, h *hosts.Hosts, t *hosts.Table, r *hosts.Row, i int, u words.Unit, l look) chartRow {
	a, label := &r.Hosts[i], words.Clean(h.Hosts[i].Label)
	out := chartRow{name: label, look: l, mark: mark{class: "host", data: [][2]string{{"host", label}, {"env", words.Clean(r.Env)}, {"metric", words.Clean(t.Metric.ID)}}}}
	if a.Missing != "" {
		out.missing = "n/a: " + words.Clean(a.Missing)
		out.mark.title = label + ": " + out.missing
		return out
	}
	n := words.NumberOf(a.Estimate, 1, words.Full)
	verdict := map[analyze.Verdict]string{analyze.Equal: " =", analyze.CannotTell: " ~"}[a.Verdict]
	if a.Lo == nil {
		verdict = ""
	}
	blocks := ""
	if a.Blocks > 0 {
		blocks = strconv.Itoa(a.Blocks)
	}
	out.cells = []string{medianOn(t, r.Env, i, u), medianOn(t, r.Against, i, u), n.Value, n.Interval + verdict, blocks}
	out.draw = forest(c, a.Estimate, l)
	out.mark.title = strings.TrimSpace(fmt.Sprintf("%s: × %s %s%s", label, n.Value, n.Interval, verdict))
	out.mark.data = append(out.mark.data, [2]string{"value", strconv.FormatFloat(a.Value, 'g', -1, 64)})
	return out
}

func medianOn(t *hosts.Table, env string, i int, u words.Unit) string {
	for _, x := range t.Times {
		if (x.Env == env || x.Baseline == env) && x.Hosts[i].Median != nil {
			return words.NumberOf(*x.Hosts[i].Median, u.By, words.Full).Value
		}
	}
	return "n/a"
}

// allMachines is the row of the pooled ratio, drawn as a diamond.
func allMachines(c *rowChart, p *hosts.Pooled, low bool) chartRow {
	n := words.NumberOf(p.Ratio, 1, words.Full)
	return chartRow{name: "all machines", look: look{ink: black, shape: 3}, cells: []string{"", "", n.Value, n.Interval, ""},
		mark: mark{class: "pooled", title: fmt.Sprintf("all machines: × %s %s", n.Value, n.Interval), data: [][2]string{{"value", strconv.FormatFloat(p.Ratio.Value, 'g', -1, 64)}}},
		draw: func(s surface, y float64) { diamond(s, c.axis, p, y, low) }}
}

// diamond spans the interval of the mean.
func diamond(s surface, a axis, p *hosts.Pooled, y float64, low bool) {
	half := 5.0
	if low {
		half = 3.5
	}
	ends := func(e *sample.Estimate) (float64, float64, bool) {
		if e == nil || e.Lo == nil || e.Hi == nil {
			return 0, 0, false
		}
		return a.at(*e.Lo), a.at(*e.Hi), true
	}
	if lo, hi, ok := ends(p.Next); ok {
		line(s, lo, y, hi, y, stroke{ink: black, width: 0.7})
	}
	x := a.at(p.Ratio.Value)
	lo, hi, ok := ends(&p.Ratio)
	if !ok {
		glyph(s, point{x, y}, 3.2, 3, black, stroke{})
		return
	}
	s.poly([]point{{lo, y}, {x, y - half}, {hi, y}, {x, y + half}}, true, black, stroke{})
}
