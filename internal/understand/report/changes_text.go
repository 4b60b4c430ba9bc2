package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
)

func changesText(w io.Writer, c *compare.Changes, opts Options) error {
	p := newPage(w, opts)
	p.text("head", "BASE  ", sideText(c.Base))
	p.text("head", "NEW   ", sideText(c.New))
	if c.Grouping != nil {
		p.blank()
		p.parts(groupGrid(c))
	} else {
		p.changeTables(changeTables(c.Cells, c.Gate != nil))
	}
	p.changeTables(changeTables(c.Quantiles, false))
	p.blank()
	for _, l := range changesLegend(c) {
		p.text("dim", "", l)
	}
	if lines := failureLines(c); len(lines) > 0 {
		p.blank()
		p.line("head", "Failures")
		for _, l := range lines {
			p.text("", "   ", l)
		}
	}
	p.blank()
	p.line("head", "What else differs")
	for _, l := range factLines(c.Facts) {
		p.text("", "   ", l)
	}
	p.plainRemarks(c.Remarks)
	if c.Gate != nil {
		p.blank()
		for _, l := range gateReasons(c) {
			p.text("warn", "   ", l)
		}
		p.text("head", "", gateLine(c.Gate))
	}
	return p.w.Flush()
}

// plainRemarks prints remarks one by one.
func (p *page) plainRemarks(remarks []record.Remark) {
	if len(remarks) > 0 {
		p.blank()
		p.line("head", "Remarks")
	}
	for _, m := range remarks {
		style := ""
		if m.Level != "info" {
			style = "warn"
		}
		p.text(style, "   ", remarkText(m))
		if m.Advice != "" {
			p.text("dim", "   → ", clean(m.Advice))
		}
	}
}

func (p *page) changeTables(tables []changeTable) {
	for _, t := range tables {
		p.blank()
		p.text("head", "", t.title)
		p.blank()
		p.wide(t.grid)
	}
}

// wide draws a table; where the page is narrower, the intervals of the medians
// give way, and then the medians.
func (p *page) wide(g *grid) {
	if g.width() > p.width {
		for _, r := range g.rows {
			for _, i := range []int{1, 2} {
				r.cells[i], _, _ = strings.Cut(r.cells[i], " [")
			}
		}
	}
	if g.width() > p.width {
		n := &grid{cols: append(g.cols[:1:1], g.cols[3:]...)}
		for _, r := range g.rows {
			n.rows = append(n.rows, row{cells: append(r.cells[:1:1], r.cells[3:]...), style: r.style})
		}
		g = n
	}
	p.grid(g)
}

// gateReasons say why a gate did not pass, and where trials failed that it let
// pass.
func gateReasons(c *compare.Changes) []string {
	var out []string
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Gate != nil && ch.Gate.State != compare.Passed {
			s := clean(ch.Gate.Reason)
			if by := gateEvidence(c.Gate, ch.Gate); by != "" {
				s += " (" + by + ")"
			}
			out = append(out, fmt.Sprintf("%s: %s of %s in %s: %s", ch.Gate.State, clean(ch.Metric.ID), clean(ch.Workload), clean(ch.Name()), sentence(s)))
		}
	}
	for i, l := range failureLines(c) {
		if g := c.Failures[i].Gate; g != nil && g.Reason != "" {
			out = append(out, fmt.Sprintf("%s: %s.", g.State, l))
		}
	}
	return out
}

func changesMarkdown(w io.Writer, c *compare.Changes, _ Options) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# What changed\n\n- BASE: %s\n- NEW: %s\n\n", mdEscape(sideText(c.Base)), mdEscape(sideText(c.New)))
	if c.Gate != nil {
		fmt.Fprintf(out, "**%s**\n\n", mdEscape(gateLine(c.Gate)))
		mdList(out, gateReasons(c))
	}
	if c.Grouping != nil {
		mdGrid(out, groupGrid(c))
	} else {
		mdChangeTables(out, changeTables(c.Cells, c.Gate != nil))
	}
	mdChangeTables(out, changeTables(c.Quantiles, false))
	for _, l := range changesLegend(c) {
		fmt.Fprintf(out, "%s\n\n", mdEscape(l))
	}
	if lines := failureLines(c); len(lines) > 0 {
		fmt.Fprintf(out, "## Failures\n\n")
		mdList(out, lines)
	}
	fmt.Fprintf(out, "## What else differs\n\n")
	mdList(out, factLines(c.Facts))
	mdPlainRemarks(out, c.Remarks)
	return out.Flush()
}

// mdPlainRemarks lists remarks under a heading.
func mdPlainRemarks(out *bufio.Writer, remarks []record.Remark) {
	if len(remarks) > 0 {
		fmt.Fprintf(out, "## Remarks\n\n")
	}
	for _, m := range remarks {
		fmt.Fprintf(out, "- %s", mdEscape(remarkText(m)))
		if m.Advice != "" {
			fmt.Fprintf(out, " *%s.*", mdEscape(clean(m.Advice)))
		}
		fmt.Fprintln(out)
	}
}

func mdChangeTables(out *bufio.Writer, tables []changeTable) {
	for _, t := range tables {
		fmt.Fprintf(out, "## %s\n\n", mdEscape(t.title))
		mdGrid(out, t.grid)
	}
}

func mdList(out *bufio.Writer, lines []string) {
	for _, l := range lines {
		fmt.Fprintf(out, "- %s\n", mdEscape(l))
	}
	if len(lines) > 0 {
		fmt.Fprintln(out)
	}
}
