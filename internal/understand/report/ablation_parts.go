package report

import (
	"cmp"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// parts are of which parts a sum consists, and from which of them each step takes its
// part: what a container's memory is.
func (a ablationWords) parts() *document.Table {
	a.unit = a.partsUnit()
	t := &document.Table{Columns: []document.Column{{Title: "taken away, " + a.unit.Name}}}
	for _, p := range a.x.Parts {
		title := strings.ToLower(words.Clean(cmp.Or(p.Metric.Title, p.Metric.ID)))
		if checks(p) {
			title = "machine:\n" + title
		}
		t.Columns = append(t.Columns, document.Column{Title: title, Points: true})
	}
	row := func(name string, of func(*ablation.Waterfall) document.Cell) {
		r := document.Row{Cells: []document.Cell{{Text: name}}}
		for _, p := range a.x.Parts {
			r.Cells = append(r.Cells, of(p))
		}
		t.Rows = append(t.Rows, r)
	}
	row("with everything", func(p *ablation.Waterfall) document.Cell { return a.number(p.Base.Median) })
	for i := range a.x.Steps {
		if a.x.Steps[i].Chain == nil {
			continue
		}
		row(words.Clean(a.x.Name(a.x.Steps[i])), func(p *ablation.Waterfall) document.Cell { return a.number(p.Steps[i].Chain) })
	}
	row("at the end", func(p *ablation.Waterfall) document.Cell { return a.number(p.Floor.Median) })
	return t
}

// partsUnit is one for all parts: some are a hundredth of others.
func (a ablationWords) partsUnit() words.Unit {
	of := lists.Map(a.x.Parts, func(p *ablation.Waterfall) float64 { return p.Base.Median.Value })
	return words.UnitFor(a.x.Metric.Unit, of)
}

// ofParts says what the terms of the sum are, the largest first.
func (a ablationWords) ofParts() string {
	terms := slices.DeleteFunc(slices.Clone(a.x.Parts), checks)
	slices.SortStableFunc(terms, func(p, q *ablation.Waterfall) int { return cmp.Compare(q.Base.Median.Value, p.Base.Median.Value) })
	var of []string
	for _, p := range terms {
		of = append(of, strings.ToLower(words.Clean(cmp.Or(p.Metric.Title, p.Metric.ID)))+" "+words.Amount(p.Base.Median.Value, p.Metric.Unit))
	}
	return " Of it: " + words.List(of) + "."
}

// checks says that a part is no term of the sum: the whole machine's memory, which
// the sum is checked by.
func checks(p *ablation.Waterfall) bool {
	return p.Metric.ID == record.DensityPart+"host" || p.Metric.ID == record.DensityPart+"free"
}
