package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// observed sets what traced starts say beside what was found by taking away.
func (a ablationWords) observed() *document.Table {
	t := &document.Table{Below: "what changed the most", Columns: []document.Column{
		{}, {Title: "mechanism"}, {Title: "taken away, " + a.unit.Name, Points: true}, {Title: "gone from\nthe way, " + a.unit.Name, Points: true}, {Title: "else, " + a.unit.Name, Points: true},
	}}
	for i := range a.x.Steps {
		s := &a.x.Steps[i]
		if s.Observed == nil {
			continue
		}
		mark, tone := "−", document.Warn
		if s.Agrees() {
			mark, tone = "+", document.Plain
		}
		number := func(ns int64) document.Cell { return document.Cell{Text: a.short(ns)} }
		t.Rows = append(t.Rows, document.Row{
			Tone:  tone,
			Cells: []document.Cell{{Text: mark}, {Text: words.Clean(s.Mechanism)}, a.number(s.Alone), number(s.Observed.Gone), number(s.Observed.Else)},
			Below: []document.Line{document.Say(a.observedSteps(s.Observed))},
		})
	}
	return t
}

func (a ablationWords) observedSteps(o *ablation.Observed) string {
	var out []string
	for _, s := range o.Steps[:min(3, len(o.Steps))] {
		from, to := a.short(s.With), a.short(s.Without)
		if s.With == 0 {
			from = "nothing"
		}
		if s.Without == 0 {
			to = "gone"
		}
		out = append(out, fmt.Sprintf("%s: %s → %s", words.Clean(s.Name), from, to))
	}
	return strings.Join(out, "; ")
}

// short writes nanoseconds in the table's unit, with two decimals at most.
func (a ablationWords) short(ns int64) string {
	return words.NumberOf(sample.Estimate{Value: float64(ns)}, a.unit.By, 2).Value
}
