// Package figure gathers what is drawn of a published figure: the run's numbers,
// and the published ones beside them.
//
// It is opinionated: it computes no estimate of its own. A figure of which the run
// has nothing says so, and what is published is drawn whether or not there is
// something beside it.
//
// Why it is so: docs/decisions/findings.md.
package figure

import (
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Figure is one with what is drawn of it.
type Figure struct {
	figures.Figure
	Panels []Panel `json:"panels,omitempty"`
	// Missing says why nothing is drawn.
	Missing string `json:"missing,omitempty"`
}

// Panel is a pair of axes.
type Panel struct {
	Title string `json:"title"`
	Unit  string `json:"unit,omitempty"`
	// Over and XUnit are of lines: what is on the other axis.
	Over  string `json:"over,omitempty"`
	XUnit string `json:"x_unit,omitempty"`
	// Of these one is filled, by the figure's kind.
	Bars  []Bar  `json:"bars,omitempty"`
	Lines []Line `json:"lines,omitempty"`
	Boxes []Box  `json:"boxes,omitempty"`
}

// Bar is a published value and ours, in one unit.
type Bar struct {
	Label  string           `json:"label"`
	Theirs sample.Estimate  `json:"theirs"`
	Here   *sample.Estimate `json:"here,omitempty"`
	Env    string           `json:"env,omitempty"`
	N      int              `json:"n,omitempty"`
	// Missing says why there is nothing of ours.
	Missing string `json:"missing,omitempty"`
}

// Line is a curve, of an environment or published.
type Line struct {
	Label     string  `json:"label"`
	Env       string  `json:"env,omitempty"` // of a published one that which stands beside it
	Published bool    `json:"published,omitempty"`
	Points    []Point `json:"points"`
}

// Point is a value in its place; Y is nil where there is none.
type Point struct {
	X     float64          `json:"x"`
	Level string           `json:"level,omitempty"`
	Y     *sample.Estimate `json:"y,omitempty"`
	N     int              `json:"n,omitempty"`
}

// Box is the distribution of an environment's values: a box where they are
// enough, and each of them where they are few.
type Box struct {
	Label string `json:"label"`
	Env   string `json:"env"` // of a published one that which stands beside it
	// Published is a box of the study's own raw values, where those are public.
	Published bool       `json:"published,omitempty"`
	N         int        `json:"n"`
	Box       *stats.Box `json:"box,omitempty"`
	// Values are all, where they are fewer than a box needs.
	Values  []float64 `json:"values,omitempty"`
	Missing string    `json:"missing,omitempty"`
}

// Of gathers figures. The result must have its values: evaluate.Options.Values.
func Of(res *analyze.Result, list []figures.Figure) []Figure {
	return lists.Map(list, func(f figures.Figure) Figure { return of(res, f) })
}

func of(res *analyze.Result, f figures.Figure) Figure {
	out := Figure{Figure: f}
	switch f.Kind {
	case figures.Bars:
		out.Panels, out.Missing = bars(res, f)
	case figures.Curves:
		out.Panels, out.Missing = curves(res, f)
	case figures.Ramps:
		out.Panels, out.Missing = ramps(res, f)
	case figures.Boxes:
		out.Panels, out.Missing = boxes(res, f)
	case figures.Series:
		if !slices.ContainsFunc(res.Workloads, func(w analyze.Workload) bool { return w.Group() == f.Workload }) {
			out.Missing = "the run has no workload " + f.Workload
		}
	case figures.None:
		out.Missing = f.Because
	}
	return out
}

// cells are the published values that a figure draws, with what stands beside.
func cells(res *analyze.Result, f figures.Figure) []*analyze.PaperCell {
	var out []*analyze.PaperCell
	for i := range res.Papers {
		p := &res.Papers[i]
		if p.Source != f.Source || p.Table != f.Table {
			continue
		}
		for k := range p.Cells {
			if c := &p.Cells[k]; len(f.Rows) == 0 || slices.Contains(f.Rows, c.Row) {
				out = append(out, c)
			}
		}
	}
	return out
}

// theirs is a published value with its interval.
func theirs(c *analyze.PaperCell, by float64) sample.Estimate {
	e := sample.Estimate{Value: c.Published * by}
	if c.CI95 != nil {
		e.Lo, e.Hi = new((c.Published-*c.CI95)*by), new((c.Published+*c.CI95)*by)
	}
	return e
}

// label names a published value within its row.
func label(c *analyze.PaperCell) string {
	if c.Image == "" {
		return c.Engine
	}
	return c.Engine + ", " + c.Image
}
