package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// HostSentences say what holds where, a sentence for each ratio, and how large the
// spread between hosts is.
func HostSentences(h *hosts.Hosts, t *hosts.Table) []string {
	var out []string
	for i := range t.Rows {
		out = append(out, rowSentence(h, t, &t.Rows[i]))
	}
	if s := t.Spread; s != nil {
		out = append(out, fmt.Sprintf("Spread (standard deviations): between %s %s, between %s %s, their interaction %s, between blocks of a host %s.",
			words.Plural(s.Environments, "environment"), sample.Percent(s.Environment), words.Plural(s.Hosts, "host"), sample.Percent(s.Host), sample.Percent(s.Both), sample.Percent(s.Block)))
	}
	return out
}

func rowSentence(h *hosts.Hosts, t *hosts.Table, r *hosts.Row) string {
	name := words.Name(r.Env)
	s := ""
	switch r.Holds {
	case hosts.Everywhere:
		word := directions(t)[0]
		if r.Below > 0 || r.Above == 0 && r.Hosts[0].Value < 1 {
			word = directions(t)[1]
		}
		s = fmt.Sprintf("%s is %s than %s on all %d hosts", name, word, words.Name(r.Against), len(r.Hosts))
		if r.Differ != nil && r.Differ.Found {
			s += ", by how much depends on the host: " + rangeText(h, r)
		}
	case hosts.Alike:
		s = fmt.Sprintf("%s equals %s on all %d hosts", name, words.Name(r.Against), len(r.Hosts))
	case hosts.Values:
		s = fmt.Sprintf("%s / %s: %s", name, words.Name(r.Against), rangeText(h, r))
	case hosts.ByHost:
		s = fmt.Sprintf("%s depends on the host: %s; %s", name, countText(t, r), rangeText(h, r))
	default:
		s = fmt.Sprintf("%s is not decided on all hosts: %s", name, countText(t, r))
	}
	if p := r.Pooled; p != nil {
		s += "; on machines in general × " + ratioText(&p.Ratio)
	}
	return s + "."
}

// directions are the words for a ratio above 1 and below it.
func directions(t *hosts.Table) [2]string {
	if faster(t.Metric) {
		return [2]string{"slower", "faster"}
	}
	return [2]string{"higher", "lower"}
}

func countText(t *hosts.Table, r *hosts.Row) string {
	missing := lists.Count(r.Hosts, func(a hosts.AtHost) bool { return a.Missing != "" })
	is := directions(t)
	return hostCounts(len(r.Hosts), missing, hostCount{r.Above, is[0]}, hostCount{r.Below, is[1]}, hostCount{r.Equal, "equal"})
}

// hostCount is of how many hosts something is said.
type hostCount struct {
	n    int
	word string
}

// hostCounts says it of all hosts: of the rest it is open, or there is no value.
func hostCounts(all, missing int, known ...hostCount) string {
	open := all - missing
	for _, x := range known {
		open -= x.n
	}
	var parts []string
	for _, x := range append(known, hostCount{open, "open"}, hostCount{missing, "without a value"}) {
		if x.n > 0 {
			parts = append(parts, fmt.Sprintf("%s on %d", x.word, x.n))
		}
	}
	return strings.Join(parts, ", ") + " of " + words.Plural(all, "host")
}

// rangeText names the hosts with the least and the greatest ratio.
func rangeText(h *hosts.Hosts, r *hosts.Row) string {
	at := sortedHosts(r)
	if len(at) == 0 {
		return ""
	}
	lo, hi := at[0], at[len(at)-1]
	return fmt.Sprintf("× %s on %s, × %s on %s", ratioText(&r.Hosts[lo].Estimate), words.Clean(h.Hosts[lo].Label), ratioText(&r.Hosts[hi].Estimate), words.Clean(h.Hosts[hi].Label))
}

// sortedHosts are those with a ratio, the least first.
func sortedHosts(r *hosts.Row) []int {
	var at []int
	for i, a := range r.Hosts {
		if a.Missing == "" {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(i, k int) int { return cmp.Compare(r.Hosts[i].Value, r.Hosts[k].Value) })
	return at
}

// hostsShown are all hosts, or of many those at both ends, and how many are not.
func hostsShown(r *hosts.Row) (shown []int, left int) {
	if len(r.Hosts) <= mostShown {
		for i := range r.Hosts {
			shown = append(shown, i)
		}
		return shown, 0
	}
	at := sortedHosts(r)
	if len(at) <= mostShown {
		return at, len(r.Hosts) - len(at)
	}
	return slices.Concat(at[:mostShown/2], at[len(at)-mostShown/2:]), len(r.Hosts) - mostShown
}

func holdsWord(r *hosts.Row, t *hosts.Table) string {
	switch r.Holds {
	case hosts.Everywhere:
		return "on all hosts"
	case hosts.Alike:
		return "equal on all"
	case hosts.Values:
		return "by host alone"
	case hosts.ByHost:
		return "by host: " + countText(t, r)
	}
	return countText(t, r)
}

func verdictMark(a *hosts.AtHost) string {
	switch {
	case a.Missing != "" || a.Lo == nil:
		return ""
	case a.Verdict == analyze.Equal:
		return "="
	case a.Verdict == analyze.CannotTell:
		return "~"
	}
	return ""
}

func ratioText(e *sample.Estimate) string {
	return words.NumberOf(*e, 1, 3).String()
}

func timesOf(t *hosts.Table, env string) *hosts.Times {
	return analyze.Find(t.Times, func(x *hosts.Times) bool { return x.Env == env || x.Baseline == env })
}

func timeText(x *hosts.Times, i int, u words.Unit) string {
	if x == nil || x.Hosts[i].Median == nil {
		return "n/a"
	}
	return words.NumberOf(*x.Hosts[i].Median, u.By, words.Full).Value
}

// TimesTable sets the medians of all environments side by side, a column each host.
func TimesTable(h *hosts.Hosts, t *hosts.Table) *document.Table {
	u := words.UnitFor(t.Metric.Unit, t.Medians())
	out := &document.Table{Columns: document.Columns("environment, " + u.Name), Parts: true}
	for _, x := range t.Times {
		out.Row(words.Name(x.Env))
	}
	for i := range h.Hosts {
		var cells []document.Cell
		for k := range t.Times {
			cells = append(cells, document.Cell{Text: timeText(&t.Times[k], i, u)})
		}
		out.Column(document.Column{Title: words.Clean(h.Hosts[i].Label), Right: true}, cells)
	}
	return out
}

// HostsLegend says how to read the tables.
func HostsLegend(h *hosts.Hosts) []string {
	out := []string{fmt.Sprintf("Ratios are of pairs from the same block of one host, with 95 %% intervals by blocks: they are about that machine. "+
		"= is equal for practical purposes (within %.3g %%), ~ cannot tell yet. Times of two machines stand side by side and are not divided.", 100*h.Delta)}
	if h.Source != "" {
		out = []string{"These values have no blocks: a host is read as one value, the ratio of two medians, without an interval. Times of two machines stand side by side and are not divided."}
	}
	if h.Pools {
		out = append(out, fmt.Sprintf("ratio, all machines: the random-effects mean over hosts, with a 95 %% interval by hosts (Paule & Mandel, Hartung & Knapp); one more host: where its ratio lies, from %d hosts of 20 blocks on; hosts differ by: the standard deviation of the true ratios, with an interval from 20 blocks on; I²: what of their scatter is not that of blocks; p: whether all hosts have one ratio (Welch).", stats.MinPredict))
	}
	return out
}
