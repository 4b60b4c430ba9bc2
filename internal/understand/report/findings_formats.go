package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
)

func findingsMarkdown(w io.Writer, f *analyze.Findings, one *analyze.Finding) error {
	out := bufio.NewWriter(w)
	if one != nil {
		mdClaim(out, one)
		return out.Flush()
	}
	fmt.Fprintf(out, "# %s\n\n", mdEscape(findingsTitle(f)))
	mdFindings(out, f, false)
	for _, m := range f.Remarks {
		fmt.Fprintf(out, "**%s.** %s", mdEscape(clean(m.Code)), mdEscape(sentence(clean(m.Text))))
		if m.Advice != "" {
			fmt.Fprintf(out, " *%s.*", mdEscape(clean(m.Advice)))
		}
		fmt.Fprintf(out, "\n\n")
	}
	for _, r := range f.Runs {
		fmt.Fprintf(out, "Run %s of %s on %s: %s.\n", mdEscape(clean(r.ID)), mdEscape(clean(r.Study)), mdEscape(clean(r.Machine)), Plural(r.Blocks, "block"))
	}
	return out.Flush()
}

// mdFindings writes the table. What was published is in italics, in a column
// of its own.
func mdFindings(out *bufio.Writer, f *analyze.Findings, brief bool) {
	fmt.Fprintf(out, "| claim | verdict | here | *published* | what it says, and what that rests on |\n| --- | --- | --- | --- | --- |\n")
	for i := range f.Claims {
		c := &f.Claims[i]
		quote := ""
		if s := quoted(c.Published, shownValues); s != "" {
			quote = "*" + mdEscape(s) + "*"
		}
		said := lines(c, brief)
		said[0] = "**" + mdEscape(said[0]) + "**"
		for k := range said[1:] {
			said[k+1] = mdEscape(said[k+1])
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s | %s |\n", mdEscape(clean(c.ID)), verdictOf(c), mdEscape(hereOf(c)), quote, strings.Join(said, " "))
	}
	fmt.Fprintln(out)
	for _, l := range findingsLegend(f) {
		fmt.Fprintf(out, "%s\n\n", mdEscape(l))
	}
}

func mdClaim(out *bufio.Writer, c *analyze.Finding) {
	fmt.Fprintf(out, "# %s: %s\n\n%s\n\n%s\n\n", mdEscape(clean(c.ID)), verdictOf(c), mdEscape(prose(c.Says)), mdEscape(prose(c.Reason)))
	mdPairs(out, c.Pairs)
	if len(c.Pairs) > 0 {
		fmt.Fprintf(out, "%s\n\n", mdEscape(pairsLegend(c)))
	}
	if c.Features != nil && len(c.Features.Differ) > 0 {
		mdGrid(out, featureGrid(c.Features))
	}
	mdLacks(out, c.Without)
	if len(c.Published) > 0 {
		fmt.Fprintf(out, "Published: *%s* (%s)\n\n", mdEscape(quoted(c.Published, len(c.Published))), mdEscape(sourcesOf(c.Published)))
	}
	if c.Why == "" {
		return
	}
	fmt.Fprintf(out, "## Why?\n\n%s\n\n", mdEscape(prose(c.Why)))
	for i := range c.Answers {
		a := &c.Answers[i]
		fmt.Fprintf(out, "- %s\n\n", mdEscape(prose(a.Text)))
		mdPairs(out, a.Pairs)
		mdLacks(out, a.Without)
	}
}

func mdPairs(out *bufio.Writer, pairs []analyze.ClaimPair) {
	for _, g := range pairGroups(pairs) {
		fmt.Fprintf(out, "**%s**\n\n", mdEscape(g.title))
		mdGrid(out, g.grid)
	}
}

func mdLacks(out *bufio.Writer, list []analyze.ClaimLack) {
	for _, l := range list {
		fmt.Fprintf(out, "- not measured: **%s**, %s", mdEscape(clean(l.What)), mdEscape(sentence(clean(l.Reason))))
		if l.Fix != "" {
			fmt.Fprintf(out, " Fix: %s", mdCode(clean(l.Fix)))
		}
		fmt.Fprintln(out)
	}
	if len(list) > 0 {
		fmt.Fprintln(out)
	}
}

// claimHead names the columns of the claims, pairHead those of one claim's
// pairs. Numbers are in the metric's own unit and full precision; ratios have
// no unit. What was published stands in columns of its own.
var (
	claimHead = []string{"claim", "verdict", "says", "pairs", "supported", "contradicted", "inconclusive",
		"decides", "value", "lo", "hi", "unit", "stated", "blocks", "reason", "without", "published", "published_source"}
	pairHead = []string{"claim", "answer", "test", "run", "a_environment", "a_workload", "a_metric", "b_environment", "b_workload", "b_metric",
		"value", "lo", "hi", "unit", "stated", "blocks", "method", "holm", "verdict", "reason"}
)

func findingsCSV(w io.Writer, f *analyze.Findings, one *analyze.Finding) error {
	out := csv.NewWriter(w)
	// What csv.Writer meets it keeps, and Error tells it at the end.
	if one != nil {
		_ = out.Write(pairHead)
		pairRows(out, one.ID, "", one.Pairs)
		for i := range one.Answers {
			pairRows(out, one.ID, strconv.Itoa(i+1), one.Answers[i].Pairs)
		}
	} else {
		_ = out.Write(claimHead)
		for i := range f.Claims {
			_ = out.Write(claimRow(&f.Claims[i]))
		}
	}
	out.Flush()
	return out.Error()
}

func claimRow(c *analyze.Finding) []string {
	count := map[analyze.ClaimVerdict]int{}
	for i := range c.Pairs {
		count[c.Pairs[i].Verdict]++
	}
	r := []string{clean(c.ID), string(c.Verdict), prose(c.Says), strconv.Itoa(len(c.Pairs))}
	for _, v := range analyze.ClaimVerdicts[:3] {
		r = append(r, strconv.Itoa(count[v]))
	}
	if d := c.Decides; d != nil {
		r = append(append(r, clean(d.Title())), three(d.Estimate)...)
		r = append(r, clean(d.Unit), clean(d.Range), strconv.Itoa(d.Blocks))
	} else {
		r = append(r, "", "", "", "", "", "", "")
	}
	return append(r, prose(c.Reason), without(c.Without), quoted(c.Published, len(c.Published)), sourcesOf(c.Published))
}

func pairRows(out *csv.Writer, claim, answer string, pairs []analyze.ClaimPair) {
	for i := range pairs {
		p := &pairs[i]
		r := []string{clean(claim), answer, strconv.Itoa(p.Test), clean(p.Run), clean(p.A.Env), clean(p.A.Workload), clean(p.A.Metric), "", "", ""}
		if p.B != nil {
			copy(r[7:], []string{clean(p.B.Env), clean(p.B.Workload), clean(p.B.Metric)})
		}
		r = append(r, three(p.Estimate)...)
		_ = out.Write(append(r, clean(p.Unit), clean(p.Range), strconv.Itoa(p.Blocks), p.Method, plain(p.Holm), string(p.Verdict), clean(p.Reason)))
	}
}
