package report

import (
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/words"
)

// factorsCSV has a row for each factor, each pair, and what is left. Shares are from 0 to 1.
func factorsCSV(f factorsOf, _ Options) [][]string {
	rows := [][]string{{"workload", "metric", "factor", "with", "share", "share_lo", "share_hi", "alone", "partial", "separable", "among", "missing"}}
	for _, x := range f.all {
		head := []string{words.Clean(x.Workload), words.Clean(x.Metric.ID)}
		row := func(factor, with string, share []string, more ...string) {
			rows = append(rows, slices.Concat(head, []string{factor, with}, share, more))
		}
		if x.Missing != "" {
			row("", "", three(nil), "", "", "", "", words.Clean(x.Missing))
		}
		for i := range x.Shares {
			s := &x.Shares[i]
			row(words.Clean(s.Factor), words.Clean(s.With), three(s.Share), plain(&s.Alone), plain(&s.Partial), string(s.Separable), words.Clean(strings.Join(s.Among, " ")), "")
		}
		for _, j := range x.Joint {
			row(words.Clean(strings.Join(j.Factors, " ")), "", three(j.Share), "", "", "joint", "", "")
		}
		if x.Pairs != nil {
			row("all pairs", "", three(x.Pairs), "", "", "", "", "")
		}
		if x.Rest != nil {
			row("rest", "", three(x.Rest), "", "", "", "", "")
		}
		if x.Noise != nil {
			row("noise", "", three(x.Noise), "", "", "", "", "")
		}
	}
	return rows
}

// hostFactorsCSV has a row for each factor and each pair on each host, and one over the
// hosts, whose host is empty. Shares are from 0 to 1.
func hostFactorsCSV(all []*factors.OverHosts, _ Options) [][]string {
	rows := [][]string{{"workload", "metric", "factor", "with", "host", "blocks", "share", "share_lo", "share_hi", "by_host", "p", "holm", "missing"}}
	for _, f := range all {
		head := []string{words.Clean(f.Workload), words.Clean(f.Metric.ID)}
		if f.Missing != "" {
			rows = append(rows, slices.Concat(head, []string{"", "", "", ""}, three(nil), []string{"", "", "", words.Clean(f.Missing)}))
		}
		for i := range f.Shares {
			s := &f.Shares[i]
			term := append(slices.Clone(head), words.Clean(s.Factor), words.Clean(s.With))
			for k, e := range s.Hosts {
				missing := ""
				if e == nil {
					missing = "it can't be told from others"
				}
				rows = append(rows, slices.Concat(term, []string{words.Clean(f.Hosts[k]), strconv.Itoa(f.Blocks[k])}, three(e), []string{"", "", "", missing}))
			}
			rows = append(rows, slices.Concat(term, []string{"", ""}, three(s.Mean), []string{plain(s.ByHost), plain(s.P), plain(s.Holm), ""}))
		}
	}
	return rows
}
