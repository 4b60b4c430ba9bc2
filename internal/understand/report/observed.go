package report

import (
	"fmt"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// addObserved says how far traced starts tell the same, where they were asked.
func (a ablationWords) addObserved(d *document.Document, level int) {
	of := a.x.Timeline
	if of == nil {
		return
	}
	d.Heading(level, "What the timeline says of it")
	d.Para(a.agreement())
	if t := a.observed(false); len(t.Rows) > 0 {
		d.Add(t)
	}
	var unfollowed analyze.Grouped[string, string]
	for i := range a.x.Steps {
		if s := &a.x.Steps[i]; s.Unfollowed != "" {
			unfollowed.Add(s.Unfollowed, s.Mechanism)
		}
	}
	for why, mechanisms := range unfollowed.All() {
		d.Legend(fmt.Sprintf("Not followed: %s (%s).", words.Clean(words.List(mechanisms)), words.Clean(why)))
	}
	if of.Followed() > 0 {
		d.Legend(fmt.Sprintf("Of %d traced starts with and %[1]d without: the time of what was waited for with it and hardly without, less what came in its place; and all else that changed. + what is gone is within %.0f %% of the cost alone, or inside its interval. ~ it is so together with all else: steps that stay became shorter or longer without it, and are named. − it is not, and why is open: more starts, or a calmer machine, would say whether the two differ.", of.Starts, 100*ablation.Apart))
	}
}

// observed sets what traced starts say beside what was found by taking away, in a line
// for each mechanism that was followed, or that was asked of.
func (a ablationWords) observed(all bool) *document.Table {
	t := &document.Table{Below: "what changed the most", Columns: []document.Column{
		{}, {Title: "mechanism"}, {Title: "taken away, " + a.unit.Name, Points: true}, {Title: "gone from\nthe way, " + a.unit.Name, Points: true}, {Title: "else, " + a.unit.Name, Points: true},
	}}
	for i := range a.x.Steps {
		s := &a.x.Steps[i]
		row := document.Row{Cells: []document.Cell{{}, {Text: words.Clean(s.Mechanism)}, a.number(s.Alone)}}
		switch {
		case s.Unfollowed != "" && all:
			row.Tone, row.Cells = document.Dim, append(row.Cells, document.Cell{Text: "not followed: " + words.Clean(s.Unfollowed), Rest: true})
		case s.Observed == nil:
			continue
		default:
			row.Cells[0].Text, row.Tone = "−", document.Warn
			switch s.Observed.Verdict {
			case ablation.Same:
				row.Cells[0].Text, row.Tone = "+", document.Plain
			case ablation.Elsewhere:
				row.Cells[0].Text, row.Tone = "~", document.Plain
			}
			row.Cells = append(row.Cells, document.Cell{Text: a.short(s.Observed.Gone)}, document.Cell{Text: a.short(s.Observed.Else)})
			row.Below = []document.Line{document.Say(a.observedSteps(s.Observed))}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// agreement says of how many mechanisms the two tell the same.
func (a ablationWords) agreement() string {
	of := a.x.Timeline
	if of.Followed() == 0 {
		return "No start was followed, since of no mechanism the cost is certain: more blocks narrow the intervals."
	}
	said := fmt.Sprintf("Of %s the timeline and the taking away say the same in %d", words.Plural(of.Followed(), "mechanism"), of.Same)
	if of.Elsewhere > 0 {
		said += fmt.Sprintf("; in %d the rest lies in steps that stay", of.Elsewhere)
	}
	if of.Open > 0 {
		said += fmt.Sprintf("; in %d they differ, and why is open", of.Open)
	}
	if of.Unfollowed > 0 {
		said += fmt.Sprintf("; %d more not followed", of.Unfollowed)
	}
	return said + "."
}

// observedSteps names the steps that changed the most.
func (a ablationWords) observedSteps(x *ablation.Observed) string {
	var out []string
	if x.Verdict == ablation.Open {
		out = append(out, fmt.Sprintf("open: traced starts differ by %s in all", a.short(x.With-x.Without)))
	}
	for _, s := range x.Steps[:min(3, len(x.Steps))] {
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

// ObservedTable is that table for a page, which has words for the marks; it has no rows
// where the timeline was not asked.
func ObservedTable(x *ablation.Waterfall) *document.Table {
	t := wordsOf(x).observed(true)
	t.Columns[0].Title, t.Columns[1].Names = "the same", true
	for i := range t.Rows {
		mark := &t.Rows[i].Cells[0]
		mark.Text = map[string]string{"+": "yes", "~": "with steps that stay", "−": "open"}[mark.Text]
	}
	return t
}
