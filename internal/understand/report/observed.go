package report

import (
	"cmp"
	"fmt"
	"slices"
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
		switch s.Verdict() {
		case ablation.Same:
			mark, tone = "+", document.Plain
		case ablation.Elsewhere:
			mark, tone = "~", document.Plain
		}
		number := func(ns int64) document.Cell { return document.Cell{Text: a.short(ns)} }
		t.Rows = append(t.Rows, document.Row{
			Tone:  tone,
			Cells: []document.Cell{{Text: mark}, {Text: words.Clean(s.Mechanism)}, a.number(s.Alone), number(s.Observed.Gone), number(s.Observed.Else)},
			Below: []document.Line{document.Say(a.observedSteps(s))},
		})
	}
	return t
}

// agreement says of how many mechanisms the two tell the same.
func (a ablationWords) agreement() string {
	of := map[ablation.Verdict]int{}
	all := 0
	for i := range a.x.Steps {
		if v := a.x.Steps[i].Verdict(); v != "" {
			of[v]++
			all++
		}
	}
	said := fmt.Sprintf("Of %s the timeline and the taking away say the same in %d", words.Plural(all, "mechanism"), of[ablation.Same])
	if n := of[ablation.Elsewhere]; n > 0 {
		said += fmt.Sprintf("; in %d the rest lies in steps that stay", n)
	}
	if n := of[ablation.Open]; n > 0 {
		said += fmt.Sprintf("; in %d they differ, and why is open", n)
	}
	return said + "."
}

// observedSteps names the steps that changed the most. Where the mechanism's cost lies
// in those that stay too, these come first.
func (a ablationWords) observedSteps(x *ablation.Step) string {
	var out []string
	steps := slices.Clone(x.Observed.Steps)
	switch x.Verdict() {
	case ablation.Elsewhere:
		slices.SortStableFunc(steps, func(p, q ablation.ObservedStep) int {
			return cmp.Compare(map[bool]int{true: 1}[p.Gone()], map[bool]int{true: 1}[q.Gone()])
		})
	case ablation.Open:
		out = append(out, fmt.Sprintf("open: traced starts differ by %s in all", a.short(x.Observed.With-x.Observed.Without)))
	}
	for _, s := range steps[:min(3, len(steps))] {
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
