package report

import (
	"fmt"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
)

// mostPaperLines is how many values of one row a table shows one by one. A
// published data set has more: of those, what nothing stands beside is counted
// by its reason. CSV and JSON have every value.
const mostPaperLines = 30

// noneOfMany is of a row of a data set beside which nothing stands, for whatever
// reasons: they are in CSV and JSON.
const noneOfMany = "this run has no value for any of its environments"

// medianNote says what the two published numbers are, where raw values are public.
const medianNote = "Of the two published numbers the first is the authors' statistic, the mean without the five largest values, and the second the median of all of them with its 95 % interval."

// manyPaperCells are the cells of a row of a data set: those with a number of ours,
// then a line for each reason why the others have none.
func manyPaperCells(cells []*analyze.PaperCell, own, same bool, d *document.Document, letters *footnotes) (out []document.Row) {
	var without analyze.Grouped[string, *analyze.PaperCell]
	for _, c := range cells {
		if c.Here != nil {
			out = append(out, document.Row{Cells: paperCells(c, own, same, d, letters)})
			continue
		}
		without.Add(c.Missing, c)
	}
	for why, more := range without.All() {
		out = append(out, document.Row{Cells: document.Cells(fmt.Sprintf("  %d more", len(more)), "", "", "–", letters.of(why))})
	}
	return out
}
