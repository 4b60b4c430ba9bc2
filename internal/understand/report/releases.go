package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Releases are what many builds of one program come to.
var Releases = kindOf("releases", releasesDocument,
	format[*releases.Releases]{"csv", asCSV(releasesCSV)},
	format[*releases.Releases]{"json", asJSON[*releases.Releases]},
)

// releasesDocument has the answer where one looks first, as that of a pair.
func releasesDocument(d *document.Document, r *releases.Releases, _ Options) {
	verdict := releasesVerdict(r)
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Line{{Text: verdict, Style: document.Strong}}})
	}
	medians, mark := "Medians with 95 % intervals", ""
	tables := releasesGroups(r)
	for _, series := range tables {
		t := releasesTable(r, series)
		if len(tables) > 1 && d.Medium != document.Text {
			d.Heading(2, seriesOf(&r.Series[series[0]]))
		} else if len(tables) > 1 {
			d.Led("", seriesOf(&r.Series[series[0]]), document.Head)
		}
		if d.Medium == document.Text && t.Width() > d.Width {
			for i := range t.Rows {
				if last := &t.Rows[i].Cells[len(t.Columns)-1]; last.Text != "" {
					last.Text = "*"
				}
			}
			mark = " * is a step, of which you read below."
		}
		for i := 1; i+1 < len(t.Columns) && d.Medium == document.Text && t.Width() > d.Width; i++ {
			t.DropTails(len(t.Columns) - 1 - i)
			medians = "Medians; 95 % intervals that have no room here are in the formats markdown, csv and json"
		}
		d.Add(t)
		d.Gap(document.Text)
	}
	d.Legend(medians + "; levels are compared inside the " + words.Plural(r.Blocks, "block") + ". A step is at the first release of a new level, which differs by " +
		sample.Percent(r.Threshold) + " or more from the level before. The chance that any of them is false is " + sample.Percent(r.Alpha) + "; a program's size does not vary by chance." + mark)
	if len(r.Steps) > 0 {
		d.Heading(2, "Steps")
		var items []string
		for i := range r.Steps {
			items = append(items, stepText(r, &r.Steps[i]))
		}
		d.List(" ", document.Items(items))
	}
	if d.Medium == document.Text {
		d.Gap(document.Text)
		d.Led("", verdict, document.Head)
	}
}

// releasesGroups are the series of one table each: those of a workload in an
// environment. The size of the program stands in the first.
func releasesGroups(r *releases.Releases) (out [][]int) {
	at := map[string]int{}
	size := -1
	for i := range r.Series {
		s := &r.Series[i]
		if s.Workload == "" {
			size = i
			continue
		}
		k := s.Workload + "\x00" + s.Env
		if _, ok := at[k]; !ok {
			at[k] = len(out)
			out = append(out, nil)
		}
		out[at[k]] = append(out[at[k]], i)
	}
	if size >= 0 && len(out) > 0 {
		out[0] = append(out[0], size)
	}
	return out
}

// seriesOf is what a table is of.
func seriesOf(s *releases.Series) string { return words.Clean(s.Workload) + " in " + words.Name(s.Env) }

// releasesTable has a row for each release.
func releasesTable(r *releases.Releases, series []int) *document.Table {
	t := &document.Table{Columns: document.Columns("release"), Below: "why"}
	versions := false
	for _, x := range r.Releases {
		versions = versions || words.Clean(x.Version) != x.Name
	}
	if versions {
		t.Columns = append(t.Columns, document.Column{Title: "version"})
	}
	units := map[int]words.Unit{}
	for _, i := range series {
		s := &r.Series[i]
		var values []float64
		for _, p := range s.Points {
			if p.Estimate != nil {
				values = append(values, p.Value)
			}
		}
		units[i] = words.UnitFor(s.Metric.Unit, values)
		t.Columns = append(t.Columns, document.Column{Title: words.Clean(cmp.Or(s.Metric.Title, s.Metric.ID)) + "\n" + units[i].Name, Points: true})
	}
	t.Columns = append(t.Columns, document.Column{Title: "step"})
	for k, x := range r.Releases {
		row := document.Row{Cells: document.Cells(words.Clean(x.Name))}
		if versions {
			row.Cells = append(row.Cells, document.Cell{Text: words.Clean(x.Version)})
		}
		if !slices.ContainsFunc(series, func(i int) bool {
			return r.Series[i].Workload != "" && r.Series[i].Points[k].Missing != analyze.NotAsked
		}) {
			continue
		}
		var steps []string
		seen := map[string]bool{}
		for _, i := range series {
			p := r.Series[i].Points[k]
			if p.Estimate == nil {
				row.Cells = append(row.Cells, document.Cell{Text: "n/a"})
				if why := words.Clean(p.Missing); why != "" && !seen[why] {
					seen[why], row.Below = true, append(row.Below, document.Say(why))
				}
				continue
			}
			n := words.NumberOf(*p.Estimate, units[i].By, 3)
			row.Cells = append(row.Cells, document.Cell{Text: n.Value, Tail: n.Interval})
			if s := r.StepAt(i, k); s != nil {
				steps = append(steps, became(r, s)+": "+words.Clean(cmp.Or(r.Series[i].Metric.Title, r.Series[i].Metric.ID))+" "+stepShort(s))
			}
		}
		row.Cells = append(row.Cells, document.Cell{Text: strings.Join(steps, ", ")})
		t.Rows = append(t.Rows, row)
	}
	return t
}

// releasesCSV has a row for each release of each series. step is empty, "better" or
// "worse" at the first release of a new level, with its ratio to the old one.
func releasesCSV(r *releases.Releases, _ Options) [][]string {
	rows := [][]string{{"program", "release", "version", "sha256", "workload", "environment", "metric", "unit", "better", "value", "lo", "hi",
		"step", "before", "ratio", "ratio_lo", "ratio_hi", "p", "missing"}}
	for i := range r.Series {
		s := &r.Series[i]
		for k, x := range r.Releases {
			p := s.Points[k]
			row := []string{words.Clean(r.Program), words.Clean(x.Name), words.Clean(x.Version), x.SHA256, words.Clean(s.Workload), words.Clean(s.Env),
				words.Clean(s.Metric.ID), words.Clean(s.Metric.Unit), string(betterOf(s.Metric))}
			row = append(row, three(p.Estimate)...)
			if c := r.StepAt(i, k); c != nil {
				row = append(row, string(c.Direction), words.Clean(r.Releases[c.Before].Name))
				row = append(row, three(&c.Ratio)...)
				row = append(row, strconv.FormatFloat(c.P, 'g', -1, 64))
			} else {
				row = append(row, "", "", "", "", "", "")
			}
			rows = append(rows, append(row, words.Clean(p.Missing)))
		}
	}
	return rows
}
