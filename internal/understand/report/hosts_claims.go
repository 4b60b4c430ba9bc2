package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// HostClaims are a study's claims on several hosts.
var HostClaims = kindOf("findings of several hosts", hostClaimsDocument,
	format[*hosts.Claims]{"json", asJSON[*hosts.Claims]},
	format[*hosts.Claims]{"csv", asCSV(hostClaimsCSV)},
)

var whereWords = map[hosts.Where]string{hosts.HoldsOnAll: "supported on all", hosts.FailsOnAll: "contradicted on all", hosts.DependsOn: "by host", hosts.NotDecided: "open", hosts.TestedOnNon: "not tested"}

var whereTones = map[hosts.Where]document.Tone{hosts.FailsOnAll: document.Warn, hosts.DependsOn: document.Warn, hosts.TestedOnNon: document.Dim}

func hostClaimsDocument(d *document.Document, c *hosts.Claims, _ Options) {
	d.Heading(1, HostClaimsTitle(c))
	d.Gap(document.Text)
	d.Add(HostClaimsTable(c))
	d.Gap(document.Text)
	for _, l := range HostClaimsLegend() {
		d.Legend(l)
	}
}

// HostClaimsTable has a row for each claim, with what was found where below it.
func HostClaimsTable(c *hosts.Claims) *document.Table {
	t := &document.Table{Columns: document.Columns("claim", "verdict", "supported", "contradicted", "inconclusive", "not tested"), Below: "what it says, and what was found where"}
	t.Columns[0].Names = true
	document.Right(t.Columns[2:])
	for i := range c.Claims {
		x := &c.Claims[i]
		row := document.Row{Tone: whereTones[x.Where], Cells: document.Cells(words.Clean(x.ID), whereWords[x.Where],
			strconv.Itoa(x.Supported), strconv.Itoa(x.Contradicted), strconv.Itoa(x.Inconclusive), strconv.Itoa(x.NotTested))}
		says := document.Say(words.Prose(x.Says))
		says[0].Style = document.Strong
		row.Below = append(row.Below, says)
		if q := quoted(x.Published, shownValues); q != "" {
			row.Below = append(row.Below, document.Say("published "+q))
		}
		if s := hostsNotAsInPaper(x.Differs); s != "" {
			row.Below = append(row.Below, document.Say(s))
		}
		for _, v := range analyze.ClaimVerdicts {
			if s := onHosts(c, x, v); s != "" {
				row.Below = append(row.Below, document.Say(s))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// HostClaimsLegend says what the columns are.
func HostClaimsLegend() []string {
	return []string{
		"Each host is judged by its own runs, at 95 %; the columns count hosts. On all: on each host that tests it. By host: supported on some and contradicted on others, after Bonferroni's correction over the hosts. Open: some host does not decide it, or contradicts it no more clearly than one of so many does by chance.",
		"One host's findings whole: plimsoll findings DIR, with the directory of its run.",
	}
}

// HostClaimsTitle counts the claims by where they hold.
func HostClaimsTitle(c *hosts.Claims) string {
	var counts, studies []string
	for _, w := range hosts.Wheres {
		n := lists.Count(c.Claims, func(x hosts.Claim) bool { return x.Where == w })
		counts = append(counts, fmt.Sprintf("%d %s", n, whereWords[w]))
	}
	for i := range c.Claims {
		s, _, _ := strings.Cut(c.Claims[i].ID, "/")
		studies = analyze.Also(studies, words.Clean(s))
	}
	return "Findings of " + words.List(studies) + " on " + words.Plural(len(c.Hosts), "host") + ": " + strings.Join(counts, ", ")
}

// mostHosts is how many hosts a sentence names.
const mostHosts = 6

// hostsNotAsInPaper says what is not as in the paper, and on which hosts where it isn't on all.
func hostsNotAsInPaper(list []hosts.Differing) string {
	where := func(on []string) string {
		if len(on) == 0 {
			return ""
		}
		names := lists.Map(on[:min(len(on), mostHosts)], words.Clean)
		if more := len(on) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		return ", on " + words.List(names)
	}
	return notAsInPaperOf(lists.Map(list, func(d hosts.Differing) string { return differing(d.StandIn) + where(d.On) }))
}

// onHosts names the hosts of one verdict, with the number that decides on each; of many
// the first ones.
func onHosts(c *hosts.Claims, x *hosts.Claim, v analyze.ClaimVerdict) string {
	var out []string
	n := 0
	for i, f := range x.Hosts {
		is := analyze.ClaimNotTested
		if f != nil {
			is = f.Verdict
		}
		if is != v {
			continue
		}
		if n++; n > mostHosts {
			continue
		}
		s := words.Clean(c.Hosts[i].Label)
		if f != nil && v != analyze.ClaimNotTested {
			s += " (" + hereOf(f) + ")"
		}
		out = append(out, s)
	}
	if n == 0 || v == analyze.ClaimNotTested && n == len(x.Hosts) {
		return ""
	}
	if n > mostHosts {
		out = append(out, fmt.Sprintf("and %d more (--format csv has all)", n-mostHosts))
	}
	return words.Sentence(words.Upper(verdictWord(v)) + " on " + strings.Join(out, ", "))
}

// hostClaimsCSV has a row for each claim on each host, and one for each claim over all
// of them, whose host is empty.
func hostClaimsCSV(c *hosts.Claims, _ Options) [][]string {
	rows := [][]string{append([]string{"host"}, claimHead...)}
	for i := range c.Claims {
		x := &c.Claims[i]
		for k, f := range x.Hosts {
			if f != nil {
				rows = append(rows, append([]string{words.Clean(c.Hosts[k].Label)}, claimRow(f)...))
			}
		}
		all := claimRow(&analyze.Finding{ID: x.ID, Verdict: analyze.ClaimVerdict(x.Where), Says: x.Says, Published: x.Published})
		all[slices.Index(claimHead, "differs")] = hostsNotAsInPaper(x.Differs)
		rows = append(rows, append([]string{""}, all...))
	}
	return rows
}
