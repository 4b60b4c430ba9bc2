package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
)

func historyText(w io.Writer, all *history.Histories, opts Options) error {
	p := newPage(w, opts)
	for i := range all.Histories {
		h := &all.Histories[i]
		if i > 0 {
			p.blank()
		}
		head, span := historyHead(h)
		p.text("head", "", head)
		p.text("", "", span)
		p.blank()
		p.line("head", "Changes")
		for k := range h.Changes {
			c := &h.Changes[k]
			style := ""
			if c.Direction == compare.Worse && (c.Standing || !c.Confirmed) {
				style = "warn"
			}
			p.text(style, "   ", changeSentence(h, c))
			for _, l := range besideLines(c) {
				p.text("dim", "      ", l)
			}
		}
		if len(h.Changes) == 0 {
			p.text("", "   ", noChange(all, h))
		}
		for _, t := range tablesOfMany(h, opts.Marks && !opts.ASCII, p.width) {
			p.blank()
			p.text("head", "", t.title)
			p.blank()
			p.grid(t.grid)
		}
		p.plainRemarks(h.Remarks)
	}
	if lines := skippedLines(all); len(lines) > 0 {
		p.blank()
		p.line("warn", "In no history")
		for _, l := range lines {
			p.text("warn", "   ", l)
		}
	}
	p.blank()
	p.text("dim", "", historyLegend(all))
	if g := all.Gate; g != nil {
		p.blank()
		for _, r := range g.Reasons {
			p.text("warn", "   ", sentence(clean(r)))
		}
		p.text("head", "", "gate: "+string(g.State))
	}
	return p.w.Flush()
}

func historyMarkdown(w io.Writer, all *history.Histories, _ Options) error {
	out := bufio.NewWriter(w)
	if g := all.Gate; g != nil {
		fmt.Fprintf(out, "**gate: %s**\n\n", g.State)
		mdList(out, cleaned(g.Reasons))
	}
	for i := range all.Histories {
		h := &all.Histories[i]
		head, span := historyHead(h)
		fmt.Fprintf(out, "# %s\n\n%s\n\n## Changes\n\n", mdEscape(head), mdEscape(span))
		for k := range h.Changes {
			c := &h.Changes[k]
			fmt.Fprintf(out, "- %s\n", mdEscape(changeSentence(h, c)))
			for _, l := range besideLines(c) {
				fmt.Fprintf(out, "  - %s\n", mdEscape(l))
			}
		}
		if len(h.Changes) == 0 {
			fmt.Fprintln(out, mdEscape(noChange(all, h)))
		}
		fmt.Fprintln(out)
		for _, t := range tablesOfMany(h, false, 0) {
			fmt.Fprintf(out, "## %s\n\n", mdEscape(t.title))
			mdGrid(out, t.grid)
		}
		mdPlainRemarks(out, h.Remarks)
		fmt.Fprintln(out)
	}
	if lines := skippedLines(all); len(lines) > 0 {
		fmt.Fprintf(out, "## In no history\n\n")
		mdList(out, lines)
	}
	fmt.Fprintln(out, mdEscape(historyLegend(all)))
	return out.Flush()
}

// tablesOfMany are those of a history of more than one run: of one, a report
// says more.
func tablesOfMany(h *history.History, sparks bool, room int) []historyTable {
	if len(h.Runs) == 1 {
		return nil
	}
	return historyTables(h, sparks, room)
}

func cleaned(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = clean(l)
	}
	return out
}

func historyHead(h *history.History) (head, span string) {
	first, last := h.Runs[0], h.Runs[len(h.Runs)-1]
	span = Plural(len(h.Runs), "run")
	if len(h.Runs) > 1 {
		span += ", from " + runText(first) + " to " + runText(last)
	} else {
		span += ": " + runText(first)
	}
	return "History of " + clean(h.Study) + " on " + clean(h.Machine), span
}

func runText(r history.PastRun) string {
	s := clean(r.Run)
	if !r.Started.IsZero() {
		s += " (" + r.Started.UTC().Format("2006-01-02 15:04") + ")"
	}
	return s
}

// changeSentence says one change in full.
func changeSentence(h *history.History, c *history.Change) string {
	s := &h.Series[c.Series]
	n := numberOf(c.Ratio, 1, 3)
	text := fmt.Sprintf("%s: %s of %s in %s, × %s", c.Direction, clean(firstOf(s.Metric.Title, s.Metric.ID)), clean(s.Workload), nameOf(s.Env), strings.TrimRight(n.value+" "+n.interval, " "))
	if c.Method == "t" {
		text += ", preliminary,"
	}
	text += " between run " + runText(h.Runs[c.Before]) + " and run " + runText(h.Runs[c.After])
	if !c.Confirmed {
		text += ", unconfirmed"
	}
	return text + "; p " + pText(c.P) + "."
}

// besideLines say what else changed there.
func besideLines(c *history.Change) []string {
	if len(c.Facts) == 0 {
		return []string{"Nothing else that is recorded differs between the two."}
	}
	lines := factLines(c.Facts)
	for i := range lines {
		lines[i] = "differs: " + lines[i]
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
	short := 0
	for i := range h.Series {
		if h.Series[i].Short {
			short++
		}
	}
	if short == len(h.Series) {
		return "No change can be told yet: there are too few runs."
	}
	s := fmt.Sprintf("No change of more than %s was found.", percentText(all.Threshold))
	if short > 0 {
		s += fmt.Sprintf(" %d of the %d series have too few runs to tell.", short, len(h.Series))
	}
	return s
}

func skippedLines(all *history.Histories) []string {
	var out []string
	for _, s := range all.Skipped {
		out = append(out, clean(s.Dir)+": "+sentence(clean(s.Reason)))
	}
	return out
}

func historyLegend(all *history.Histories) string {
	return fmt.Sprintf("level now: the middle of the runs since the last change, each as a multiple of what the environment in the next column did beside it, or in that unit. Brackets: 95 %% intervals, by runs. Changes are of more than %s, found by %s and confirmed by the next run (else with a question mark); the chance that any confirmed one, in all these series, is false is at most %s (%d permutations, %s).",
		percentText(all.Threshold), all.Method, percentText(all.Alpha), all.Permutations, all.Correction)
}

// spark draws a series in one line, on a logarithmic scale from its smallest
// to its largest value; a dot stands for a run without one.
func spark(s *history.Series) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range s.Points {
		if p.Estimate != nil {
			lo, hi = min(lo, math.Log(p.Value)), max(hi, math.Log(p.Value))
		}
	}
	// A scale of less than ±5 % would make mountains of noise.
	if wide := 0.1; hi-lo < wide {
		middle := (lo + hi) / 2
		lo, hi = middle-wide/2, middle+wide/2
	}
	var b strings.Builder
	for _, p := range s.Points[max(0, len(s.Points)-maxSpark):] {
		if p.Estimate == nil {
			b.WriteRune('·')
			continue
		}
		k := int((math.Log(p.Value) - lo) / (hi - lo) * float64(len(eighths)))
		b.WriteRune(eighths[min(max(k, 0), len(eighths)-1)])
	}
	return b.String()
}

// maxSpark is how many runs a spark shows: the last ones.
const maxSpark = 40
