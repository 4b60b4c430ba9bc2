package report

import (
	"strconv"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/words"
)

// claimHead names the columns of the claims, pairHead those of one claim's
// pairs. Numbers are in the metric's own unit and full precision; ratios have
// no unit. What was published stands in columns of its own.
var (
	claimHead = []string{"claim", "verdict", "says", "pairs", "supported", "contradicted", "inconclusive",
		"decides", "value", "lo", "hi", "unit", "stated", "blocks", "reason", "without", "published", "published_source", "differs",
		"cells", "cells_tried", "cells_as_published", "cells_undecided"}
	pairHead = []string{"claim", "answer", "test", "run", "a_environment", "a_workload", "a_metric", "b_environment", "b_workload", "b_metric",
		"value", "lo", "hi", "unit", "stated", "blocks", "method", "holm", "verdict", "reason"}
	cellHead = []string{"claim", "feature", "engine", "here", "published", "verdict", "why", "lacking"}
)

func findingsCSV(f found, _ Options) [][]string {
	rows := [][]string{claimHead}
	if one := f.one; one != nil && one.Features != nil {
		rows = cellRows(one)
	} else if one != nil {
		rows = pairRows([][]string{pairHead}, one.ID, "", one.Pairs)
		if one.Instead != nil {
			rows = pairRows(rows, one.ID, "instead", one.Instead.Pairs)
		}
		for i := range one.Answers {
			rows = pairRows(rows, one.ID, strconv.Itoa(i+1), one.Answers[i].Pairs)
		}
	} else {
		for i := range f.Claims {
			rows = append(rows, claimRow(&f.Claims[i]))
		}
	}
	return rows
}

func claimRow(c *analyze.Finding) []string {
	count := map[analyze.ClaimVerdict]int{}
	for i := range c.Pairs {
		count[c.Pairs[i].Verdict]++
	}
	r := []string{words.Clean(c.ID), string(c.Verdict), words.Prose(c.Says), strconv.Itoa(len(c.Pairs))}
	for _, v := range analyze.ClaimVerdicts[:3] {
		r = append(r, strconv.Itoa(count[v]))
	}
	if d := c.Decides; d != nil {
		r = append(append(r, words.Clean(d.Title())), three(d.Estimate)...)
		r = append(r, words.Clean(d.Unit), words.Clean(d.Range), strconv.Itoa(d.Blocks))
	} else {
		r = append(r, "", "", "", "", "", "", "")
	}
	r = append(r, words.Prose(c.Reason), without(c.Without), quoted(c.Published, len(c.Published)), sourcesOf(c.Published), notAsInPaper(c.Differs))
	if x := c.Features; x != nil {
		return append(r, strconv.Itoa(x.Cells), strconv.Itoa(x.Tried), strconv.Itoa(x.Equal), strconv.Itoa(len(x.Undecided)))
	}
	return append(r, "", "", "", "")
}

// cellRows has a row for each cell of a feature table that is not as published, or undecided.
func cellRows(c *analyze.Finding) [][]string {
	rows := [][]string{cellHead}
	add := func(cells []analyze.FeatureDifference, v analyze.ClaimVerdict) {
		for _, d := range cells {
			rows = append(rows, []string{words.Clean(c.ID), words.Clean(d.Feature), words.Clean(d.Engine), words.Clean(d.Here), words.Clean(d.Published), string(v), words.Clean(d.Why), words.Clean(d.Lacking)})
		}
	}
	add(c.Features.Differ, analyze.ClaimContradicted)
	add(c.Features.Undecided, analyze.ClaimInconclusive)
	return rows
}

// pairRows appends a row for each pair.
func pairRows(rows [][]string, claim, answer string, pairs []analyze.ClaimPair) [][]string {
	for i := range pairs {
		p := &pairs[i]
		r := []string{words.Clean(claim), answer, strconv.Itoa(p.Test), words.Clean(p.Run), words.Clean(p.A.Env), words.Clean(p.A.Workload), words.Clean(p.A.Metric), "", "", ""}
		if p.B != nil {
			copy(r[7:], []string{words.Clean(p.B.Env), words.Clean(p.B.Workload), words.Clean(p.B.Metric)})
		}
		r = append(r, three(p.Estimate)...)
		rows = append(rows, append(r, words.Clean(p.Unit), words.Clean(p.Range), strconv.Itoa(p.Blocks), p.Method, plain(p.Holm), string(p.Verdict), words.Clean(p.Reason)))
	}
	return rows
}
