package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/advise"
)

func adviceText(w io.Writer, a *advise.Advice, opts Options) error {
	p := newPage(w, opts)
	p.text("head", "", adviceTitle(a))
	p.text("", "", adviceRuns(a))
	p.blank()
	for i, s := range verdictSentences(a) {
		style := "head"
		if i > 0 {
			style = ""
		}
		p.text(style, "", s)
	}
	for _, s := range a.Verdict.Decide {
		p.text("", "→ ", clean(s))
	}
	p.marked(adviceCriteria(a))
	if len(a.Ranked) > 0 {
		p.blank()
		p.parts(adviceGrid(a))
		p.blank()
		for _, s := range adviceLegend(a) {
			p.text("dim", "", s)
		}
		p.blank()
		p.line("head", "What speaks for and against")
		for _, l := range adviceEvidence(a) {
			p.line("", "  "+l.title)
			p.lines("   ", l.lines)
		}
	}
	for _, l := range adviceApart(a) {
		p.marked(l)
	}
	p.marked(adviceSensitivity(a))
	p.marked(adviceRemarks(a))
	return p.w.Flush()
}

// marked draws a list with its title, where it has lines.
func (p *page) marked(l adviceList) {
	if len(l.lines) == 0 {
		return
	}
	p.blank()
	p.line("head", l.title)
	p.lines(" ", l.lines)
	for _, s := range l.advice {
		p.text("dim", " → ", s)
	}
}

func (p *page) lines(indent string, lines []marked) {
	for _, m := range lines {
		p.text("", indent+pad(m.mark, 1, false)+" ", m.text)
		if m.advice != "" {
			p.text("dim", indent+"  → ", m.advice)
		}
	}
}

// adviceRemarks lists what weakens the whole.
func adviceRemarks(a *advise.Advice) adviceList {
	var names nameGroups
	for _, m := range a.Remarks {
		names.add(marked{text: remarkText(m), advice: clean(m.Advice)}, nameOf(m.Env))
	}
	l := adviceList{title: "Remarks"}
	for _, m := range names.lines() {
		m.text = strings.TrimLeft(m.text, ": ")
		l.lines = append(l.lines, m)
	}
	return l
}

func adviceMarkdown(w io.Writer, a *advise.Advice) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s\n\n%s\n\n", mdEscape(adviceTitle(a)), mdEscape(adviceRuns(a)))
	for i, s := range verdictSentences(a) {
		if s = mdEscape(s); i == 0 {
			s = "**" + s + "**"
		}
		fmt.Fprintf(out, "%s\n\n", s)
	}
	for _, s := range a.Verdict.Decide {
		if s = clean(s); strings.HasPrefix(s, "plimsoll ") {
			s = mdCode(s)
		} else {
			s = mdEscape(s)
		}
		fmt.Fprintf(out, "- What would decide: %s\n", s)
	}
	if len(a.Verdict.Decide) > 0 {
		fmt.Fprintln(out)
	}
	mdMarked(out, "##", adviceCriteria(a))
	if len(a.Ranked) > 0 {
		fmt.Fprintf(out, "## Ranking\n\n")
		mdGrid(out, adviceGrid(a))
		fmt.Fprintf(out, "%s\n\n## What speaks for and against\n\n", mdEscape(strings.Join(adviceLegend(a), " ")))
		for _, l := range adviceEvidence(a) {
			mdMarked(out, "###", l)
		}
	}
	for _, l := range append(adviceApart(a), adviceSensitivity(a), adviceRemarks(a)) {
		mdMarked(out, "##", l)
	}
	return out.Flush()
}

func mdMarked(out *bufio.Writer, level string, l adviceList) {
	if len(l.lines) == 0 {
		return
	}
	fmt.Fprintf(out, "%s %s\n\n", level, mdEscape(l.title))
	for _, m := range l.lines {
		mark := ""
		if m.mark != "" {
			mark = "**" + mdEscape(m.mark) + "** "
		}
		fmt.Fprintf(out, "- %s%s", mark, mdEscape(m.text))
		if m.advice != "" {
			fmt.Fprintf(out, " → %s", mdCode(m.advice))
		}
		fmt.Fprintln(out)
	}
	for _, s := range l.advice {
		fmt.Fprintf(out, "- → %s\n", mdCode(s))
	}
	fmt.Fprintln(out)
}
