package figure

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/dataimage"
	"plimsoll/internal/common/published/figures"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/papers"
)

// dataCurve are the environments that differ in how much data their image has,
// and in nothing else.
type dataCurve struct {
	engine, base string
	levels       map[string]string // but the image
	kind         string
	at           []dataPlace // ascending
}

type dataPlace struct {
	x    float64
	size string
	env  string
}

// dataCurves has a panel for each workload of the name and each image below the
// data, with a line for each environment but for its size.
func dataCurves(res *analyze.Result, f figures.Figure) ([]Panel, string) {
	var out []Panel
	all := curvesOfData(res)
	for i := range res.Workloads {
		w := &res.Workloads[i]
		t := w.Table(f.Metric)
		if w.Group() != f.Workload || !t.Measured() {
			continue
		}
		for _, base := range basesOf(all) {
			p := Panel{Title: w.ID + ", " + base, Unit: t.Metric.Unit}
			for _, c := range all {
				if c.base != base {
					continue
				}
				l, about := c.line(t)
				if len(l.Points) < 2 {
					continue
				}
				p.Over = about
				if c.kind == dataimage.Database {
					p.XUnit = "bytes"
				}
				p.Lines = append(p.Lines, l)
				p.Lines = append(p.Lines, c.published(res, f, w, t.Metric)...)
			}
			if len(p.Lines) > 0 {
				slices.SortStableFunc(p.Lines, func(a, b Line) int { return cmp.Compare(last(a.Published), last(b.Published)) })
				out = append(out, p)
			}
		}
	}
	if len(out) == 0 {
		return nil, "this run has no " + f.Metric + " of " + f.Workload + " with two sizes of the data in the image"
	}
	return out, ""
}

// last is 1 for what comes after the rest.
func last(published bool) int {
	if published {
		return 1
	}
	return 0
}

// curvesOfData groups the environments whose image has data.
func curvesOfData(res *analyze.Result) []*dataCurve {
	var out []*dataCurve
	for _, e := range res.Environments {
		image, ok := dataimage.Parse(e.Levels["image"])
		x, _, number := image.Number()
		if !ok || !number {
			continue
		}
		levels := maps.Clone(e.Levels)
		delete(levels, "image")
		k := slices.IndexFunc(out, func(c *dataCurve) bool {
			return c.engine == e.Engine && c.base == image.Base && c.kind == image.Kind && maps.Equal(c.levels, levels)
		})
		if k < 0 {
			k = len(out)
			out = append(out, &dataCurve{engine: e.Engine, base: image.Base, kind: image.Kind, levels: levels})
		}
		out[k].at = append(out[k].at, dataPlace{x, image.Size, e.ID})
	}
	for _, c := range out {
		slices.SortFunc(c.at, func(a, b dataPlace) int { return cmp.Compare(a.x, b.x) })
	}
	return out
}

func basesOf(all []*dataCurve) []string {
	var out []string
	for _, c := range all {
		out = analyze.Also(out, c.base)
	}
	return out
}

// line is what a table has of a curve, and what is on its other axis.
func (c *dataCurve) line(t *analyze.Table) (l Line, over string) {
	for _, at := range c.at {
		cell := t.Cell(at.env)
		if cell == nil || cell.Median == nil {
			continue
		}
		l.Env = at.env // the largest one's looks
		l.Points = append(l.Points, Point{X: at.x, Level: at.size, Y: cell.Median, N: cell.N})
	}
	l.Label = c.label()
	return l, dataimage.Image{Kind: c.kind}.What()
}

// label is the environment without the size: its engine and its levels, in the
// order of the first one's name.
func (c *dataCurve) label() string {
	image := dataimage.Prefix + c.kind + "-" + c.at[0].size + ":" + c.base
	token := strings.NewReplacer("/", "-", ":", "-").Replace(image)
	return strings.TrimSuffix(strings.Replace(c.at[0].env, "/"+token, "", 1), "/")
}

// published are the values that the study's tables set beside this curve's.
func (c *dataCurve) published(res *analyze.Result, f figures.Figure, w *analyze.Workload, m record.Metric) []Line {
	var out []Line
	for i := range res.Papers {
		for k := range res.Papers[i].Cells {
			cell := &res.Papers[i].Cells[k]
			at := slices.IndexFunc(c.at, func(p dataPlace) bool { return p.env == cell.Env })
			by, ok := papers.Factor(m.Unit, cell.Unit)
			if at < 0 || !ok || cell.Workload != w.ID || cell.Metric != f.Metric || res.Papers[i].Source != f.Source {
				continue
			}
			n := slices.IndexFunc(out, func(l Line) bool { return l.Label == label(cell) })
			if n < 0 {
				n = len(out)
				out = append(out, Line{Label: label(cell), Published: true})
			}
			y := theirs(cell, 1/by)
			out[n].Env = c.at[at].env
			out[n].Points = append(out[n].Points, Point{X: c.at[at].x, Level: c.at[at].size, Y: &y})
		}
	}
	for i := range out {
		slices.SortStableFunc(out[i].Points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	}
	return out
}
