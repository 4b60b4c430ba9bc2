package report

import (
	"fmt"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// wayWords are what stands at a pair of ratios.
var wayWords = map[analyze.Way]string{analyze.SameWay: "the same way", analyze.OtherWay: "the other way", analyze.OpenWay: "open"}

// ratioHead is what several lines have in common.
type ratioHead struct {
	row  string
	pair record.PaperPair
}

// addPaperRatios adds the published ratios that have one of ours beside them; of
// the others it says how many there are and why.
func addPaperRatios(d *document.Document, t *analyze.PaperTable) {
	if len(t.Ratios) == 0 {
		return
	}
	out := &document.Table{Columns: document.Columns("", "image", "there", "95 %", "here", "95 %", "blocks", "")}
	for _, i := range []int{2, 4, 6} {
		out.Columns[i].Right = true
	}
	out.Columns[2].Slanted, out.Columns[3].Slanted = true, true
	var ours analyze.Grouped[ratioHead, *analyze.PaperRatio]
	var without analyze.Grouped[string, *analyze.PaperRatio]
	ways := map[analyze.Way]int{}
	for i := range t.Ratios {
		r := &t.Ratios[i]
		if r.Here == nil {
			without.Add(r.Missing, r)
			continue
		}
		ways[r.Way]++
		ours.Add(ratioHead{r.Row, r.Pair}, r)
	}
	for h, ratios := range ours.All() {
		out.Rows = append(out.Rows, document.Row{Cells: []document.Cell{{Text: words.Clean(h.row + ": " + h.pair.Of + " over " + h.pair.To), Rest: true}}, Tone: document.Head})
		for _, r := range ratios {
			out.Rows = append(out.Rows, document.Row{Cells: paperRatioCells(r, d)})
		}
	}
	if len(out.Rows) == 0 {
		return
	}
	d.Heading(3, "Ratios there and here: "+words.Clean(t.Table))
	d.Add(out)
	d.Legend(fmt.Sprintf("Of %s that have both, %d go the same way here, %d the other way, and %d are open: one of the two can't be told from 1.",
		words.Plural(ways[analyze.SameWay]+ways[analyze.OtherWay]+ways[analyze.OpenWay], "ratio"), ways[analyze.SameWay], ways[analyze.OtherWay], ways[analyze.OpenWay]))
	if slices.ContainsFunc(t.Ratios, func(r analyze.PaperRatio) bool { return r.Theirs.Lo != nil }) {
		d.Legend("Theirs is estimated from the paper's raw values, as of two independent samples (Hodges and Lehmann, on logarithms); ours within blocks.")
	}
	for why, more := range without.All() {
		d.Legend(fmt.Sprintf("%s without a counterpart here: %s", words.Plural(len(more), "more ratio"), words.Sentence(words.Clean(why))))
	}
}

// paperRatioCells are one pair's.
func paperRatioCells(r *analyze.PaperRatio, d *document.Document) []document.Cell {
	there, here := words.NumberOf(r.Theirs, 1, 3), words.NumberOf(*r.Here, 1, 3)
	value, interval := there.Value+" ×", there.Interval
	if d.Medium == document.Text {
		value = "(" + value + ")"
	}
	blocks := fmt.Sprint(r.Blocks)
	cells := document.Cells("  "+words.Clean(r.Same), words.Clean(r.Image), value, interval, here.Value+" ×", here.Interval, blocks, wayWords[r.Way])
	cells[2].Slanted, cells[3].Slanted = true, true
	return cells
}
