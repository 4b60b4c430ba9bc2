package plot

import (
	"fmt"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/view"
)

// boxesNote says how a box is read.
var boxesNote = fmt.Sprintf("Boxes reach from quartile to quartile, whiskers to the furthest values within 1.5 times that distance, and what lies beyond is a point; of fewer than %d values each is a point.", stats.LeastBox)

// boxPlots has a box for each environment, after Tukey.
func boxPlots(d *view.Data, o Options) (*picture, error) {
	w, t, err := pickTable(d, o)
	if err != nil {
		return nil, err
	}
	in := figure.Panel{Unit: t.Metric.Unit}
	drawn := false
	for _, e := range rowsOf(w, t) {
		b := figure.Box{Env: d.Envs[e].ID, Label: d.Envs[e].ID, N: view.At(t.N, e), Missing: view.At(t.Missing, e)}
		x := view.At(t.Dist, e)
		if box, ok := stats.BoxOf(x.Values); ok {
			b.Box = &box
		} else if len(x.Values) > 0 {
			b.Values = x.Values
		} else if q1, q3, ok := quartiles(x); ok {
			// Too many to be kept: what is known of their ends are quantiles.
			lo, _ := level(x, 0.025)
			mid, _ := level(x, 0.5)
			hi, _ := level(x, 0.975)
			b.Box = &stats.Box{Low: lo, Q1: q1, Median: mid, Q3: q3, High: hi}
		}
		drawn = drawn || b.Box != nil || len(b.Values) > 0
		in.Boxes = append(in.Boxes, b)
	}
	if !drawn {
		return nil, noData("workload %s has no values of %s", w.ID, t.Metric.ID)
	}
	c := &rowChart{rowH: 18}
	fillBoxes(c, &in, d, placeOf(d), looks(d))
	c.label = axisLabel(t, c.axis)
	p := &picture{
		title: metricName(t.Metric) + ": " + w.Label(),
		sub:   []string{what(w, t.Metric)},
		notes: []string{boxesNote, "Where the values themselves were not kept, whiskers go to 2.5 and 97.5 %."},
	}
	return p.table(c, o), nil
}
