package plot

import (
	"slices"
	"strings"

	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/view"
)

// HasSeries says whether one of the figures is of time series, which FillSeries
// takes from a view.
func HasSeries(list []figure.Figure) bool {
	return slices.ContainsFunc(list, func(f figure.Figure) bool { return f.Kind == figures.Series && f.Missing == "" })
}

// FillSeries gives the figures over the time of a trial their panels, for what
// shows them as tables: medians over the trials at each time, and where there
// are more than two trials the quartiles. A picture draws them from the view.
func FillSeries(list []figure.Figure, d *view.Data) {
	for i := range list {
		f := &list[i]
		if f.Kind != figures.Series || f.Missing != "" {
			continue
		}
		if f.Panels = seriesPanels(f, d); len(f.Panels) == 0 {
			f.Missing = "this run has no time series of " + f.Metric + " of " + f.Workload
		}
	}
}

// seriesPanels has a panel for each part that a column is of, of the workload
// that a picture shows: the first of the name that has series.
func seriesPanels(f *figure.Figure, d *view.Data) (out []figure.Panel) {
	for i := range d.Works {
		w := &d.Works[i]
		if w.Name != f.Workload || len(w.Curves) == 0 {
			continue
		}
		at := map[string]int{}
		for _, c := range w.Curves {
			if c.Column != f.Metric || len(c.T) == 0 {
				continue
			}
			k, ok := at[c.Part]
			if !ok {
				k = len(out)
				at[c.Part] = k
				title := c.Title
				if c.Part != "" && c.Part != "host" && !strings.Contains(strings.ToLower(title), c.Part) {
					title += ", " + c.Part
				}
				out = append(out, figure.Panel{Title: w.ID + ", " + title, Unit: c.Unit, Over: "seconds"})
			}
			out[k].Lines = append(out[k].Lines, figure.Line{Label: d.EnvLabel(c.Env), Env: d.Envs[c.Env].ID, Points: seriesPoints(&c)})
		}
		return out
	}
	return nil
}

func seriesPoints(c *view.Curve) []figure.Point {
	var out []figure.Point
	for i, t := range c.T {
		y := sample.Estimate{Value: c.V[i]}
		if len(c.Lo) == len(c.T) && len(c.Hi) == len(c.T) {
			y.Lo, y.Hi = &c.Lo[i], &c.Hi[i]
		}
		out = append(out, figure.Point{X: t, Y: &y, N: c.Trials})
	}
	return out
}
