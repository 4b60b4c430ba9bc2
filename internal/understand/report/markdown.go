package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"plimsoll/internal/understand/analyze"
)

// writeMarkdown shows the same as the text, in tables that GitHub renders.
func writeMarkdown(w io.Writer, res *analyze.Result, opts Options) error {
	out := bufio.NewWriter(w)
	para := func(s string) { fmt.Fprintf(out, "%s\n\n", mdEscape(s)) }
	rankings := rankingsOf(res, opts)
	groups, hidden := groupRemarks(res, rankings)

	fmt.Fprintf(out, "# %s\n\n", mdEscape(headline(res)))
	para(protocol(res) + ".")
	fmt.Fprintf(out, "**Verdict.** %s\n\n", mdEscape(prose(strings.Join(Verdict(res, opts.Metric), " "))))
	if g, baseline := overview(res, rankings); g != nil {
		fmt.Fprintf(out, "## Overview\n\n")
		mdGrid(out, g)
		para(overviewLegend(baseline, res.Run.Delta))
	}
	for i, r := range rankings {
		work := clean(firstOf(r.work.Title, r.work.ID))
		fmt.Fprintf(out, "## %s: %s\n\n", mdEscape(work), mdEscape(clean(r.table.Metric.Title)))
		para(clean(firstOf(r.table.Metric.What, r.table.Metric.Title)) + "; " + better(r.table.Metric) + ".")
		l := fullLayout
		l.host = interval
		mdGrid(out, r.grid(l))
		for _, s := range r.legend(res.Run.Delta) {
			para(s)
		}
		if opts.Brief {
			continue
		}
		if s := r.more(l); len(s.rows) > 0 {
			fmt.Fprintf(out, "### More on %s\n\n", mdEscape(clean(r.table.Metric.Title)))
			mdGrid(out, s)
			para(r.moreLegend())
		}
		if i+1 == len(rankings) || rankings[i+1].work != r.work {
			if g := ownMetrics(r, rankings); len(g.cols) > 1 {
				fmt.Fprintf(out, "### Further metrics of %s (medians)\n\n", mdEscape(work))
				mdGrid(out, g)
			}
			if g := phases(r, rankings); len(g.cols) > 1 && r.work.Table("time") == nil {
				fmt.Fprintf(out, "### Phases of %s (medians)\n\n", mdEscape(work))
				mdGrid(out, g)
				reasons, envs := whyMissing(r)
				for _, why := range reasons {
					para("n/a for " + clean(strings.Join(envs[why], ", ")) + ": " + sentence(clean(why)))
				}
			}
			for _, s := range sections(r.work) {
				fmt.Fprintf(out, "### %s\n\n", mdEscape(s.title))
				mdGrid(out, s.grid)
				for _, n := range s.notes {
					para(n)
				}
			}
		}
	}
	mdPapers(out, res)
	if res.Findings != nil && opts.Metric == "" {
		fmt.Fprintf(out, "## %s\n\n", mdEscape(findingsTitle(res.Findings)))
		mdFindings(out, res.Findings, true)
	}
	if res.Features != nil && opts.Metric == "" {
		mdFeatures(out, res.Features, "##")
		fmt.Fprintln(out)
	}
	mdRemarks(out, groups, hidden)
	if len(res.Excluded) > 0 && !opts.Brief {
		fmt.Fprintf(out, "## What could not run\n\n")
		for _, x := range excludedOf(res) {
			fmt.Fprintf(out, "- **%s**: %s", mdEscape(x.names), mdEscape(x.reason))
			if x.fix != "" {
				fmt.Fprintf(out, " Fix: %s", mdCode(x.fix))
			}
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out)
	}
	if !opts.Brief {
		fmt.Fprintf(out, "## What ran\n\n")
		for _, e := range res.Environments {
			fmt.Fprintf(out, "- **%s**: %s\n", mdEscape(clean(e.ID)), mdEscape(firstOf(describe(e, nil), "nothing is known of it")))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "Machine: %s.\n\nRun: %s.\n", mdEscape(machine(res.Run.Host)), mdEscape(when(res)))
	if res.Run.Repeat != "" {
		fmt.Fprintf(out, "\nRepeat: %s\n", mdCode(clean(res.Run.Repeat)))
	}
	return out.Flush()
}

func mdRemarks(out *bufio.Writer, groups []*remarkGroup, hidden int) {
	if len(groups) == 0 && hidden == 0 {
		return
	}
	fmt.Fprintf(out, "## Remarks\n\n")
	for _, g := range groups {
		fmt.Fprintf(out, "%d. **%s.** %s.", g.number, mdEscape(g.code), mdEscape(g.text()))
		if g.advice != "" {
			fmt.Fprintf(out, " *%s.*", mdEscape(clean(g.advice)))
		}
		fmt.Fprintln(out)
	}
	if hidden > 0 {
		fmt.Fprintf(out, "\n%s on metrics that are not ranked here: see the format json.\n", Plural(hidden, "further remark"))
	}
	fmt.Fprintln(out)
}

// mdGrid writes a grid as a table. Where a note stands instead of cells, it
// takes the first of their places.
func mdGrid(out *bufio.Writer, g *grid) {
	var head, rule []string
	for _, c := range g.cols {
		head = append(head, mdEscape(strings.ReplaceAll(c.title, "\n", " ")))
		if c.right {
			rule = append(rule, "---:")
		} else {
			rule = append(rule, "---")
		}
	}
	line := func(cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	line(head)
	line(rule)
	for _, r := range g.rows {
		cells := make([]string, len(g.cols))
		for i := range cells {
			switch {
			case r.note != "" && i == r.noteAt:
				cells[i] = mdEscape(r.note)
			case r.note != "" && i > r.noteAt:
			case i < len(r.cells):
				cells[i] = mdEscape(strings.Join(strings.Fields(r.cells[i]), " "))
			}
		}
		line(cells)
	}
	fmt.Fprintln(out)
}

var mdReplacer = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "|", `\|`, "<", "&lt;", ">", "&gt;", "&", "&amp;",
	"[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`, slant, "*")

// mdEscape makes text stand for itself: no markup, no HTML, no table border.
func mdEscape(s string) string { return mdReplacer.Replace(s) }

// mdCode puts text into a code span, whose fence is longer than any inside.
func mdCode(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + s + " " + fence
	}
	return fence + s + fence
}
