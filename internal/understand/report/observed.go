package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/record"
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
	for _, s := range slices.Concat(a.x.Steps, a.x.Added) {
		if s.Unfollowed != "" {
			unfollowed.Add(s.Unfollowed, s.Mechanism)
		}
	}
	for why, mechanisms := range unfollowed.All() {
		d.Legend(fmt.Sprintf("Not followed: %s (%s).", words.Clean(words.List(mechanisms)), words.Clean(why)))
	}
	if of.Followed() > 0 {
		if of.Same < of.Followed() {
			d.Legend("Steps that stay take another time for one of these reasons. A grace period of the kernel's (RCU) ends at its own time: who begins to wait for it earlier waits longer. A processor is busy with work that went on meanwhile and now comes at another time. Another wait is for work that went on meanwhile too, and is not over sooner because what was waited for first is gone. Work takes another time where the processor's caches hold other things.")
		}
		how := ""
		if of.Overhead > 0 {
			how = fmt.Sprintf(" Tracing makes these starts %.3f × as long.", of.Overhead)
		}
		if of.Lost > 0 {
			how += " The kernel had " + noRoom(of.Lost) + "."
		}
		d.Legend(fmt.Sprintf("Of %d traced starts with and %[1]d without: the time of what was waited for with it and hardly without, less what came in its place; and all else that changed. + what is gone is within %.0f %% of the cost alone, or inside its interval. ~ it is so together with all else: steps that stay became shorter or longer without it, and are named. ? it is not, and the traced starts scatter so much that they may differ by the cost all the same: more --blocks, or a calmer machine, would tell. = it is not, but the starts next to them that were not traced differ by what the timeline says, too: between so few environments the machine is in another state than between those of the blocks above, and the mechanism costs another time. − it is not, and why is open.", of.Starts, 100*ablation.Apart) + how)
	}
}

// observed sets what traced starts say beside what was found by taking away, in a line
// for each mechanism that was followed, or that was asked of.
func (a ablationWords) observed(all bool) *document.Table {
	t := &document.Table{Below: "what changed the most", Columns: []document.Column{
		{}, {Title: "mechanism"}, {Title: "taken away, " + a.unit.Name, Points: true}, {Title: "gone from\nthe way, " + a.unit.Name, Points: true}, {Title: "else, " + a.unit.Name, Points: true},
	}}
	for _, s := range slices.Concat(a.x.Steps, a.x.Added) {
		row := document.Row{Cells: []document.Cell{{}, {Text: a.named([]string{s.Mechanism})}, a.number(s.Alone)}}
		switch {
		case s.Unfollowed != "" && all:
			row.Tone, row.Cells = document.Dim, append(row.Cells, document.Cell{Text: "not followed: " + words.Clean(s.Unfollowed), Rest: true})
		case s.Observed == nil:
			continue
		default:
			row.Cells[0].Text, row.Tone = agreeing[s.Observed.Verdict], document.Plain
			if s.Observed.Verdict == ablation.Open {
				row.Tone = document.Warn
			}
			row.Cells = append(row.Cells, document.Cell{Text: a.short(s.Observed.Gone)}, document.Cell{Text: a.short(s.Observed.Else)})
			row.Below = []document.Line{document.Say(a.observedSteps(&s))}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// agreeing are the marks before a mechanism, by how far the two tell the same of it.
var agreeing = map[ablation.Verdict]string{ablation.Same: "+", ablation.Elsewhere: "~", ablation.Scattered: "?", ablation.Beside: "=", ablation.Open: "−"}

// agreement says of how many mechanisms the two tell the same.
func (a ablationWords) agreement() string {
	of := a.x.Timeline
	if of.Followed() == 0 {
		return "No start was followed, since of no mechanism the cost is certain: more blocks narrow the intervals."
	}
	said := fmt.Sprintf("Of %s the timeline and the taking away say the same in %d", words.Plural(of.Followed(), "mechanism"), of.Same)
	if of.Inside > 0 {
		said += fmt.Sprintf(" (in %d of them only inside the cost's interval)", of.Inside)
	}
	if of.Elsewhere > 0 {
		said += fmt.Sprintf("; in %d the rest lies in steps that stay", of.Elsewhere)
	}
	if of.Scattered > 0 {
		said += fmt.Sprintf("; in %d the traced starts scatter too much to tell", of.Scattered)
	}
	if of.Beside > 0 {
		said += fmt.Sprintf("; in %d the untraced starts next to the traced ones agree with the timeline", of.Beside)
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
func (a ablationWords) observedSteps(of *ablation.Step) string {
	var out []string
	x := of.Observed
	if off := x.Gone - int64(of.Alone.Value); x.Inside {
		how := "more"
		if off < 0 {
			how, off = "less", -off
		}
		out = append(out, fmt.Sprintf("%s %s than it costs, and inside its interval", a.short(off), how))
	}
	if x.Verdict == ablation.Open || x.Verdict == ablation.Scattered || x.Verdict == ablation.Beside {
		said := fmt.Sprintf("traced starts differ by %s in all", a.short(x.With-x.Without))
		if x.Lo < x.Hi {
			said += fmt.Sprintf(" [%s, %s]", a.short(x.Lo), a.short(x.Hi))
		}
		if x.PlainLo < x.PlainHi {
			said += fmt.Sprintf(", the untraced ones next to them by [%s, %s]", a.short(x.PlainLo), a.short(x.PlainHi))
		}
		if x.Verdict == ablation.Open {
			said = "open: " + said
		}
		out = append(out, said)
	}
	if x.Verdict != ablation.Same {
		if stay := a.stay(x); stay != "" {
			out = append(out, stay)
		}
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

// stepKinds are the steps that stay, in words.
var stepKinds = map[record.StepKind]string{
	record.GraceStep:     "the kernel's grace periods",
	record.ProcessorStep: "waits for a processor",
	record.WaitStep:      "other waits",
	record.WorkStep:      "work",
}

// stay says of what kind the steps are that stay and took another time, as far as that is
// a tenth of the cost: why it is so, the legend says.
func (a ablationWords) stay(x *ablation.Observed) string {
	var out []string
	least := int64(math.Abs(float64(x.With-x.Without)) / 10)
	for _, k := range x.Kinds {
		switch name := stepKinds[k.Kind]; {
		case name == "" || max(k.NS, -k.NS) < max(least, 1):
		case k.NS < 0:
			out = append(out, fmt.Sprintf("%s %s longer", name, a.short(-k.NS)))
		default:
			out = append(out, fmt.Sprintf("%s %s shorter", name, a.short(k.NS)))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "steps that stay: " + words.List(out)
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
		mark.Text = map[string]string{"+": "yes", "~": "with steps that stay", "?": "can't be told", "=": "next to them", "−": "open"}[mark.Text]
	}
	return t
}
