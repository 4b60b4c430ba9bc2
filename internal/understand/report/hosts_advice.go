package report

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// HostAdvice is the advice for one use on several hosts.
var HostAdvice = kindOf("an advice for several hosts", hostAdviceDocument, format[*advise.ByHost]{"json", asJSON[*advise.ByHost]})

// mostPlaces is how many hosts have a column of their own.
const mostPlaces = 12

func hostAdviceDocument(d *document.Document, a *advise.ByHost, _ Options) {
	p := a.Hosts[0].Advice.Profile
	d.Heading(1, "Advice for "+words.Clean(p.Name)+" on "+words.Plural(len(a.Hosts), "host")+": "+words.Clean(p.Title))
	addSentences(d, hostAdviceSentences(a))
	shown := min(len(a.Hosts), mostPlaces)
	names := []string{"environment", "leads"}
	for _, h := range a.Hosts[:shown] {
		names = append(names, words.Clean(h.Label))
	}
	t := &document.Table{Columns: document.Columns(names...), Parts: true}
	t.Columns[0].Names = true
	document.Right(t.Columns[1:])
	for _, x := range a.Places {
		row := []string{words.Name(x.Env), fmt.Sprintf("%d of %d", x.Leads, len(a.Hosts))}
		for i, n := range x.Hosts[:shown] {
			row = append(row, place(a.Hosts[i].Advice, x.Env, n))
		}
		t.Row(row...)
	}
	if len(a.Places) > 0 {
		d.Gap(document.Text)
		d.Add(t)
		d.Gap(document.Text)
		d.Legend("By host the place and the letters of the ranking there: environments that share a letter cannot be told apart. leads: on how many hosts nothing is surely better. Each host is ranked by its own runs; scores of two hosts are never put together.")
	}
	if shown < len(a.Hosts) {
		d.Legend(fmt.Sprintf("%s more: --format json has all.", words.Plural(len(a.Hosts)-shown, "host")))
	}
	d.Legend("The case for and against on one host: plimsoll advise DIR, with the directory of its run.")
}

func place(a *advise.Advice, env string, n int) string {
	if n == 0 {
		if slices.ContainsFunc(a.Refused, func(r advise.Refused) bool { return r.Env == env }) {
			return "ruled out"
		}
		return "n/a"
	}
	return strconv.Itoa(n) + " " + a.Ranked[n-1].Group
}

// hostAdviceSentences say who leads on all hosts, and what is said on each.
func hostAdviceSentences(a *advise.ByHost) []string {
	var out []string
	names := lists.Map(a.Everywhere, words.Name)
	n := len(a.Hosts)
	switch {
	case a.Alone:
		out = append(out, fmt.Sprintf("%s comes first on all %d hosts.", names[0], n))
	case len(names) == 1:
		out = append(out, fmt.Sprintf("On all %d hosts nothing is surely better than %s.", n, names[0]))
	case len(names) > 1:
		out = append(out, fmt.Sprintf("On all %d hosts nothing is surely better than any of %s: they cannot be told apart everywhere.", n, words.List(names)))
	default:
		out = append(out, "No environment leads on all hosts: which one fits depends on the host, or is not known there.")
	}
	for _, h := range a.Hosts[:min(n, mostPlaces)] {
		out = append(out, words.Clean(h.Label)+": "+verdictSentences(h.Advice)[0])
	}
	return out
}
