package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/steady"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Steadiness says in which states of the machine starts scatter less.
var Steadiness = kindOf("what makes starts scatter", steadinessDocument,
	jsonOf(func(res *analyze.Result) []*steady.Table { return res.Steadiness }),
)

func steadinessDocument(d *document.Document, res *analyze.Result, _ Options) {
	addSteadiness(d, res, 1)
	origin(d, res)
}

// addSteadiness is the section of a whole report too.
func addSteadiness(d *document.Document, res *analyze.Result, level int) {
	for _, t := range res.Steadiness {
		d.Heading(level, fmt.Sprintf("What makes %s scatter: %s", words.Clean(t.Engine), words.Clean(t.Workload)))
		d.Para(steadinessSummary(t))
		d.Add(steadinessTable(t))
		d.Legend(fmt.Sprintf("Each state is there twice in each of %s, in random order, and the two are the same: noise is how wide the interval of their ratio is to each side, what so many blocks can't see. Scatter: how far the two are apart in a block, over how far when the machine is as it is, with the 95 %% interval; below 1 it scatters less.", words.Plural(t.Blocks, "block")))
	}
}

func steadinessSummary(t *steady.Table) string {
	best := t.Best()
	if best == "" {
		return "None of these states makes it scatter less, as far as these blocks can tell."
	}
	for _, r := range t.Rows {
		if r.State == best {
			return fmt.Sprintf("It scatters least with %s: %s of what it does as the machine is.", words.Clean(best), times(r.Scatter))
		}
	}
	return ""
}

func times(e *sample.Estimate) string {
	n := words.NumberOf(*e, 1, 2)
	return strings.TrimSpace(n.Value + " × " + n.Interval)
}

// steadinessTable is the table of one environment.
func steadinessTable(t *steady.Table) *document.Table {
	unit, by := "", 1.0
	if t.Unit == "ns" {
		unit, by = ", ms", 1e6
	}
	out := &document.Table{Parts: true, Columns: []document.Column{{Title: "state"}, {Title: words.Clean(t.Metric) + unit, Points: true},
		{Title: "× as it is", Points: true}, {Title: "noise, ± %", Points: true}, {Title: "scatter, ×\nas it is", Points: true}}}
	for _, r := range t.Rows {
		name := words.Clean(r.State)
		if r.State == steady.AsItIs {
			name = "as it is"
		}
		row := document.Row{Cells: []document.Cell{{Text: name}}}
		if r.Missing != "" {
			row.Tone = document.Dim
			row.Cells = append(row.Cells, document.Cell{Text: "n/a: " + words.Clean(r.Missing), Rest: true})
		} else {
			noise := document.Cell{Text: "n/a"}
			if r.Noise != nil {
				noise.Text = fmt.Sprintf("%.2g", 100**r.Noise)
			}
			row.Cells = append(row.Cells, numberCell(r.Median, by, 3), numberCell(r.Ratio, 1, 3), noise, numberCell(r.Scatter, 1, 3))
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
