package plot

import (
	"fmt"
	"strconv"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
	"plimsoll/internal/understand/words"
)

// ratios is a forest plot of ratios to a baseline, with the verdicts.
func ratios(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	a := against(t, o.Baseline)
	if a == nil {
		if o.Baseline != "" {
			return nil, noData("workload %s has no ratios to %q", w.ID, o.Baseline)
		}
		return nil, noData("workload %s has no ratios: no baseline ran it", w.ID)
	}
	baseline := words.Clean(a.Baseline)
	var sp span
	sp.add(1)
	sp.addEach(a.Ratio...)
	sp.addEach(a.Lo...)
	sp.addEach(a.Hi...)
	c := &rowChart{
		axis: sp.axis(""), label: "× " + baseline + " (" + words.Better(t.Metric) + ")",
		cols: []column{{head: "× " + baseline, right: true}, {head: "95 % interval", optional: true}, {head: "n", right: true}},
	}
	c.guides = []guide{{baseline, 1, stroke{ink: muted, width: 0.8, dash: []float64{4, 2}}}}
	p := &picture{
		title: metricName(t.Metric) + " against " + baseline + ": " + w.Label(),
		sub:   []string{what(w, t.Metric)},
		notes: []string{"Points are ratios within blocks, lines their 95 % intervals."},
	}
	marks := map[analyze.Verdict]string{analyze.Equal: " =", analyze.CannotTell: " ~"}
	used := map[analyze.Verdict]bool{}
	envLooks := looks(d)
	for _, e := range rowsOf(w, t) {
		if d.Envs[e].Baseline == a.Baseline {
			continue // it is the line
		}
		r := chartRow{name: d.EnvLabel(e), look: envLooks[e]}
		m := mark{class: "cell", data: [][2]string{{"env", words.Clean(d.Envs[e].ID)}, {"metric", t.Metric.ID}}}
		if q := view.At(a.Ratio, e); q == nil {
			r.missing = missing(t, e)
			if view.At(t.Median, e) != nil {
				r.missing = "n/a: no pair with " + baseline + " in one block"
			}
			m.title = r.name + ": " + r.missing
		} else {
			est := sample.Estimate{Value: *q, Lo: view.At(a.Lo, e), Hi: view.At(a.Hi, e)}
			n := words.NumberOf(est, 1, words.Full)
			verdict := view.At(a.Verdict, e)
			used[verdict] = true
			r.cells = []string{n.Value, n.Interval + marks[verdict], nOf(d, w, t, e)}
			r.draw = forest(c, est, envLooks[e])
			m.title = fmt.Sprintf("%s: %s × %s %s%s, n %d", r.name, n.Value, baseline, n.Interval, marks[verdict], view.At(t.N, e))
			m.data = append(m.data, [2]string{"value", strconv.FormatFloat(*q, 'g', -1, 64)})
		}
		r.mark = m
		c.rows = append(c.rows, r)
	}
	if used[analyze.Equal] {
		p.notes[0] += fmt.Sprintf(" = is equal for practical purposes (within %.3g %%).", 100*d.Run.Delta)
	}
	if used[analyze.CannotTell] {
		p.notes[0] += fmt.Sprintf(" ~ cannot tell yet whether it differs by more than %.3g %%.", 100*d.Run.Delta)
	}
	return p.table(c, o), nil
}
