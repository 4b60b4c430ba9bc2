// Package papers sets published tables beside a run's own numbers.
//
// Why it is so: docs/decisions/findings.md.
package papers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/published"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Of sets the published tables that a study names beside the run.
func Of(r *analyze.Result, run *record.Run) []analyze.PaperTable {
	var out []analyze.PaperTable
	last := map[[2]string]int{} // where a table of a source stands last
	seen := map[[2]string]map[int]bool{}
	for i := range run.Study.Tables {
		spec := &run.Study.Tables[i]
		key := [2]string{spec.Source, spec.Table}
		if seen[key] == nil {
			seen[key] = map[int]bool{}
		}
		t := analyze.PaperTable{Source: spec.Source, Table: spec.Table, Title: spec.Title}
		for k, v := range published.Find(published.Query{Source: spec.Source, Table: spec.Table}) {
			if spec.Baseline != "" && v.Name() == spec.Baseline {
				seen[key][k] = true // it is in every other cell
				continue
			}
			if !seen[key][k] && covers(spec, v) {
				seen[key][k] = true
				t.Cells = append(t.Cells, (&pairing{r, run, spec}).cell(v))
			}
		}
		last[key] = len(out)
		out = append(out, t)
	}
	// What no entry of the study covers is shown all the same.
	for i := range out {
		key := [2]string{out[i].Source, out[i].Table}
		if last[key] != i {
			continue
		}
		for k, v := range published.Find(published.Query{Source: key[0], Table: key[1]}) {
			if !seen[key][k] {
				c := cited(v)
				c.Missing, c.NoCounterpart = "the study has nothing to compare with it", true
				out[i].Cells = append(out[i].Cells, c)
			}
		}
	}
	return out
}

// covers says whether an entry of the study speaks of a published value.
func covers(spec *record.PaperTable, v published.Value) bool {
	named := func(word string, in bool) bool {
		_, without := spec.Without[word]
		return in || without
	}
	return named(v.Name(), column(spec.Engines, v.Name()) != nil) &&
		named(v.Row(), slices.ContainsFunc(spec.Rows, func(r record.PaperRow) bool { return r.Published == v.Row() })) &&
		(len(spec.Images) == 0 || named(v.Image, column(spec.Images, v.Image) != nil))
}

func column(list []record.PaperColumn, word string) *record.PaperColumn {
	return analyze.Find(list, func(x *record.PaperColumn) bool { return x.Published == word })
}

// cited is a published value without anything beside it.
func cited(v published.Value) analyze.PaperCell {
	c := analyze.PaperCell{Engine: v.Name(), Image: v.Image, Row: v.Row(), Unit: v.Unit, Better: v.Better, Published: v.Value}
	if v.CI95 == v.CI95 { // is a number
		c.CI95 = &v.CI95
	}
	if v.SD == v.SD {
		c.SD = &v.SD
	}
	if m := v.Median; m != nil {
		c.PublishedMedian = &sample.Estimate{Value: m.Value}
		if m.Hi > 0 {
			c.PublishedMedian.Lo, c.PublishedMedian.Hi = &m.Lo, &m.Hi
		}
	}
	return c
}

// A pairing finds the run's number for a published one.
type pairing struct {
	res  *analyze.Result
	run  *record.Run
	spec *record.PaperTable
}

func (p *pairing) cell(v published.Value) analyze.PaperCell {
	c := cited(v)
	for _, word := range []string{v.Row(), v.Name(), v.Image} {
		if why, ok := p.spec.Without[word]; ok {
			c.Missing, c.NoCounterpart = why, true
			return c
		}
	}
	i := slices.IndexFunc(p.spec.Rows, func(r record.PaperRow) bool { return r.Published == v.Row() })
	row := &p.spec.Rows[i] // covers saw it
	c.Note = row.Note
	if row.As != "" && v.Unit != "%" && !p.percent(&c, v, row) {
		return c
	}
	if row.Metric == record.Failures.ID {
		p.failures(&c, column(p.spec.Engines, v.Name()), column(p.spec.Images, v.Image), row)
		return c
	}
	image := column(p.spec.Images, v.Image)
	if row.Images != nil {
		if image = column(row.Images, v.Image); image == nil {
			c.Missing, c.NoCounterpart = "the study names no image that has these data", true
			return c
		}
	}
	w, t, cell, why := p.find(column(p.spec.Engines, v.Name()), image, row)
	if cell == nil {
		c.Missing = why
		return c
	}
	c.Env, c.Workload, c.Metric, c.N, c.Blocks = cell.Env, w.ID, t.Metric.ID, cell.N, cell.Blocks
	c.Note = noteOf(c.Note, p.bound(cell.Env, w))
	if row.As != "" {
		c.Here, c.Missing = difference(t, cell, row.As)
		return c
	}
	by, ok := inUnit(t.Metric.Unit, c.Unit)
	if !ok {
		c.Missing = fmt.Sprintf("%s can't be compared with %s", t.Metric.Unit, c.Unit)
		return c
	}
	c.Here = multiplied(cell.Median, by)
	return c
}

// bound says which images of the study were bound to the one of a cell, in
// whose place it ran.
func (p *pairing) bound(env string, w *analyze.Workload) string {
	ran := w.Params["image"]
	if e := p.res.Environment(env); ran == "" && e != nil {
		ran = e.Levels["image"]
	}
	images := p.run.Study.Images
	of := lists.Filter(slices.Sorted(maps.Keys(images)), func(from string) bool { return images[from] == ran })
	if len(of) == 0 {
		return ""
	}
	return ran + " in the place of " + strings.Join(of, ", ")
}

// noteOf joins two notes.
func noteOf(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}

// percent turns a published value into the percentage against the paper's own
// baseline.
func (p *pairing) percent(c *analyze.PaperCell, v published.Value, row *record.PaperRow) bool {
	for _, b := range published.Find(published.Query{Source: v.Source, Table: v.Table, Image: v.Image, Workload: v.Workload, Metric: v.Metric}) {
		if b.Name() != p.spec.Baseline || b.Value == 0 {
			continue
		}
		o := analyze.OverheadOf(sample.Estimate{Value: v.Value / b.Value}, v.Better).Value
		c.From = fmt.Sprintf("%g against %g %s", v.Value, b.Value, v.Unit)
		c.Unit, c.Better, c.CI95, c.SD, c.PublishedMedian = "%", record.LowerIsBetter, nil, nil, nil
		if c.Published = 100 * o; row.As == record.PaperDifference {
			c.Published, c.Better = -c.Published, record.HigherIsBetter
		}
		return true
	}
	c.Missing, c.NoCounterpart = "the paper has no value of "+p.spec.Baseline+" to take a percentage against", true
	return false
}

// difference is the overhead against native, or its negative, in per cent.
func difference(t *analyze.Table, cell *analyze.Cell, as string) (*sample.Estimate, string) {
	o := t.Overhead(cell.Env, "native")
	if o.Overhead == nil {
		return nil, o.Missing
	}
	if as == record.PaperOverhead {
		return multiplied(o.Overhead, 100), ""
	}
	return multiplied(o.Overhead, -100), ""
}

// multiplied multiplies an estimate; by a negative number its ends change places.
func multiplied(e *sample.Estimate, by float64) *sample.Estimate {
	out := &sample.Estimate{Value: e.Value * by}
	if e.Lo != nil && e.Hi != nil {
		lo, hi := *e.Lo*by, *e.Hi*by
		if by < 0 {
			lo, hi = hi, lo
		}
		out.Lo, out.Hi = &lo, &hi
	}
	return out
}

// Factor is what a number in a unit of ours is multiplied with to be in a
// published one.
func Factor(ours, theirs string) (float64, bool) { return inUnit(ours, theirs) }

// inUnit gives the factor from a unit of ours to a published one.
func inUnit(ours, theirs string) (by float64, ok bool) {
	if ours == theirs {
		return 1, true
	}
	by, ok = map[[2]string]float64{
		{"ns", "s"}: 1e-9, {"ns", "ms"}: 1e-6, {"ns", "us"}: 1e-3,
		{"bytes", "MB"}: 1e-6, {"bytes/s", "MB/s"}: 1e-6,
		{"percent", "%"}: 1,
	}[[2]string{ours, theirs}]
	return by, ok
}
