package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Charges are what the kernel charges for each mechanism.
var Charges = kindOf("what the kernel charges", chargesDocument,
	jsonOf(func(res *analyze.Result) []*kernel.Charges { return res.Charges }),
)

func chargesDocument(d *document.Document, res *analyze.Result, _ Options) {
	for _, c := range res.Charges {
		addCharge(d, res, c, 1)
	}
	origin(d, res)
}

// addCharges are the section of a whole report.
func addCharges(d *document.Document, res *analyze.Result) {
	for _, c := range res.Charges {
		addCharge(d, res, c, 2)
	}
}

func addCharge(d *document.Document, res *analyze.Result, c *kernel.Charges, level int) {
	title := "What the kernel charges"
	if len(res.Charges) > 1 {
		title += ": " + words.Clean(c.Env)
	}
	d.Heading(level, title)
	d.Para(chargesSummary(c))
	t := ChargesTable(c)
	if d.Medium == document.Text {
		for _, column := range []int{2, 1, len(t.Columns) - 1} {
			if t.Width() > d.Width {
				t.DropTails(column)
			}
		}
	}
	d.Add(t)
	legend := "Made in and undone in: the calls of the mechanism alone, median of all, µs; where no call undoes it, from the end of its process until the parent knows. A second: how many are made and ended, with the process that has it."
	if n := len(c.Together); n > 1 {
		legend += " The fewest and the most at once, with 60 ms of rest before each round."
		legend += fmt.Sprintf(" Gain: %d at once over %s, of the numbers a second, in the same blocks: 1 is one after the other; work can gain as much as there are processors, waiting can gain more.", c.Together[n-1], alone(c.Together[0]))
	}
	d.Legend(legend)
}

func alone(n int) string {
	if n == 1 {
		return "one alone"
	}
	return fmt.Sprintf("%d", n)
}

func chargesSummary(c *kernel.Charges) string {
	most := lists.Map(c.Dearest(4), func(r kernel.Row) string {
		return words.Clean(r.Mechanism) + " " + words.Amount(r.Alone(), "ns")
	})
	var s string
	if len(most) > 0 {
		s = fmt.Sprintf("The dearest, made and undone%s: %s.", map[bool]string{true: " alone"}[c.Together[0] == 1], words.List(most))
	}
	wait := lists.Map(c.Waiting(), func(r kernel.Row) string { return words.Clean(r.Mechanism) })
	if len(wait) > 0 {
		s += fmt.Sprintf(" One waits for the other: %s (a gain of less than half of a process's).", words.List(wait))
	}
	return strings.TrimSpace(s)
}

// ChargesTable is the table of what one environment was charged.
func ChargesTable(c *kernel.Charges) *document.Table {
	last := len(c.Together) - 1
	t := &document.Table{Parts: true, Columns: []document.Column{{Title: "mechanism"}, {Title: "made in,\nµs", Points: true}, {Title: "undone in,\nµs", Points: true}}}
	if c.Together[0] != 1 {
		t.Columns[1].Title = fmt.Sprintf("%d at once:\nmade in, µs", c.Together[0])
		t.Columns[2].First = fmt.Sprintf("%d at once:\nundone in, µs", c.Together[0])
	}
	if last > 0 {
		t.Columns = append(t.Columns, document.Column{Title: fmt.Sprintf("%d at once:\nmade in, µs", c.Together[last]), Points: true}, document.Column{Title: "undone in,\nµs", First: fmt.Sprintf("%d at once:\nundone in, µs", c.Together[last]), Points: true})
	}
	for i, n := range c.Together {
		column := document.Column{Title: fmt.Sprintf("\n%d", n), First: fmt.Sprintf("a second:\n%d at once", n), Points: true}
		if i == 0 {
			column.Title = column.First
		}
		t.Columns = append(t.Columns, column)
	}
	if last > 0 {
		t.Columns = append(t.Columns, document.Column{Title: "gain", Points: true})
	}
	for _, r := range c.Rows {
		t.Rows = append(t.Rows, chargesRow(r, last))
	}
	return t
}

func chargesRow(r kernel.Row, last int) document.Row {
	row := document.Row{Cells: []document.Cell{{Text: words.Clean(r.Mechanism)}}}
	if missing := r.Cells[0].Missing; missing != "" {
		row.Tone = document.Dim
		row.Cells = append(row.Cells, document.Cell{Text: "n/a: " + words.Clean(missing), Rest: true})
		return row
	}
	number := func(e *sample.Estimate, by float64, tail bool) document.Cell {
		if e == nil {
			return document.Cell{Text: "n/a"}
		}
		n := words.NumberOf(*e, by, 2)
		if !tail {
			n.Interval = ""
		}
		return document.Cell{Text: n.Value, Tail: n.Interval}
	}
	row.Cells = append(row.Cells, number(r.Cells[0].Make, 1e3, true), number(r.Cells[0].End, 1e3, true))
	if last > 0 {
		row.Cells = append(row.Cells, number(r.Cells[last].Make, 1e3, false), number(r.Cells[last].End, 1e3, false))
	}
	for i := range r.Cells {
		row.Cells = append(row.Cells, number(r.Cells[i].Rate, 1, false))
	}
	if last > 0 {
		row.Cells = append(row.Cells, number(r.Gain, 1, true))
	}
	return row
}
