package report

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

func historyDocument(d *document.Document, all *history.Histories, opts Options) {
	if d.Medium == document.Markdown {
		sayHistoryGate(d, all.Gate)
	}
	for i := range all.Histories {
		h := &all.Histories[i]
		head, span := historyHead(h)
		d.Heading(1, head)
		d.Para(span)
		d.Heading(2, "Changes")
		d.List("   ", changeItems(h))
		if len(h.Changes) == 0 {
			d.Led("   ", noChange(all, h), document.Plain)
		}
		if len(h.Runs) > 1 { // of one, a report says more
			addHistoryTables(d, h, d.Medium == document.Text && opts.Marks && !opts.ASCII)
		}
		addPlainRemarks(d, h.Remarks)
		if len(h.Remarks) == 0 {
			d.Gap(document.Markdown)
		}
	}
	if lines := skippedLines(all); len(lines) > 0 {
		if d.Medium == document.Text {
			d.Gap(document.Text)
			d.Led("", "In no history", document.Warn)
		} else {
			d.Heading(2, "In no history")
		}
		d.List("   ", toned(document.Items(lines), document.Warn))
	}
	d.Gap(document.Text)
	d.Legend(historyLegend(all))
	if d.Medium == document.Text {
		sayHistoryGate(d, all.Gate)
	}
}

// sayHistoryGate is the gate's answer, with its reasons before it on a terminal
// and below it elsewhere.
func sayHistoryGate(d *document.Document, g *history.Gate) {
	if g == nil {
		return
	}
	answer := "gate: " + string(g.State)
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Line{{Text: answer, Style: document.Strong}}})
	}
	d.Gap(document.Text)
	var reasons []string
	for _, r := range g.Reasons {
		r = words.Clean(r)
		if d.Medium == document.Text {
			r = words.Sentence(r)
		}
		reasons = append(reasons, r)
	}
	d.List("   ", toned(document.Items(reasons), document.Warn))
	if d.Medium == document.Text {
		d.Led("", answer, document.Head)
	}
}

func toned(items []document.Item, tone document.Tone) []document.Item {
	for i := range items {
		items[i].Tone = tone
	}
	return items
}

func changeItems(h *history.History) []document.Item {
	var out []document.Item
	for k := range h.Changes {
		c := &h.Changes[k]
		m := document.Item{Text: document.Say(changeSentence(h, c)), Below: besideLines(h, c)}
		if c.Direction == compare.Worse && (c.Standing || !c.Confirmed) {
			m.Tone = document.Warn
		}
		out = append(out, m)
	}
	return out
}

func historyHead(h *history.History) (head, span string) {
	first, last := h.Runs[0], h.Runs[len(h.Runs)-1]
	span = words.Plural(len(h.Runs), "run")
	if len(h.Runs) > 1 {
		span += ", from " + runText(first) + " to " + runText(last)
	} else {
		span += ": " + runText(first)
	}
	return "History of " + words.Clean(h.Study) + " on " + words.Clean(h.Machine), span
}

func runText(r history.PastRun) string {
	s := words.Clean(r.Run)
	if !r.Started.IsZero() {
		s += " (" + r.Started.UTC().Format("2006-01-02 15:04") + ")"
	}
	return s
}

// changeSentence says one change in full.
func changeSentence(h *history.History, c *history.Change) string {
	s := &h.Series[c.Series]
	n := words.NumberOf(c.Ratio, 1, 3)
	text := fmt.Sprintf("%s: %s of %s in %s, × %s", c.Direction, words.Clean(cmp.Or(s.Metric.Title, s.Metric.ID)), words.Clean(s.Workload), words.Name(s.Env), strings.TrimRight(n.Value+" "+n.Interval, " "))
	if c.Method == "t" {
		text += ", preliminary,"
	}
	text += " between run " + runText(h.Runs[c.Before]) + " and run " + runText(h.Runs[c.After])
	if !c.Confirmed {
		text += ", unconfirmed"
	}
	return text + "; p " + pText(c.P) + "."
}

// besideLines say which steps changed, and what else did.
func besideLines(h *history.History, c *history.Change) []string {
	var lines []string
	if len(c.Steps) > 0 {
		var steps []string
		for i := range c.Steps {
			steps = append(steps, partText(&c.Steps[i], h.Series[c.Series].Metric.Unit))
		}
		lines = append(lines, "its steps: "+strings.Join(steps, ", ")+".")
	}
	if len(c.Facts) == 0 {
		return append(lines, "Nothing else on record differs between the two.")
	}
	for _, l := range factLines(c.Facts) {
		lines = append(lines, "differs: "+l)
	}
	return lines
}

func pText(p float64) string {
	if p < 0.0005 {
		return "< 0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

func noChange(all *history.Histories, h *history.History) string {
	short := lists.Count(h.Series, func(s history.Series) bool { return s.Short })
	if short == len(h.Series) {
		return "No change can be found yet: there are too few runs."
	}
	s := fmt.Sprintf("No change of more than %s was found.", sample.Percent(all.Threshold))
	if short > 0 {
		s += fmt.Sprintf(" %d of the %d series have too few runs to tell.", short, len(h.Series))
	}
	return s
}

func skippedLines(all *history.Histories) []string {
	return lists.Map(all.Skipped, func(s history.SkippedRun) string {
		return words.Clean(s.Dir) + ": " + words.Sentence(words.Clean(s.Reason))
	})
}

func historyLegend(all *history.Histories) string {
	return fmt.Sprintf("level now: the middle of the runs since the last change, each as a multiple of what the environment in the next column did in the same run, or in that unit. Brackets: 95 %% intervals, by runs. Changes are of more than %s, found by %s and confirmed by the next run (else with a question mark); the chance that any confirmed one, in all these series, is false is at most %s (%d permutations, %s).",
		sample.Percent(all.Threshold), all.Method, sample.Percent(all.Alpha), all.Permutations, all.Correction)
}
