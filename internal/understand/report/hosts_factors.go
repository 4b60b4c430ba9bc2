package report

import (
	"fmt"
	"slices"
	"strconv"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// HostFactors is what matters most on several hosts, for each group of workloads.
var HostFactors = kindOf("factors on several hosts", hostFactorsDocument,
	format[[]*factors.OverHosts]{"csv", asCSV(hostFactorsCSV)},
	jsonOf(func(all []*factors.OverHosts) hostFactorsJSON { return hostFactorsJSON{analyze.Schema, all} }))

type hostFactorsJSON struct {
	Schema  int                  `json:"schema"`
	Factors []*factors.OverHosts `json:"factors"`
}

func hostFactorsDocument(d *document.Document, all []*factors.OverHosts, _ Options) {
	d.Heading(1, "What matters most on "+words.Plural(len(all[0].Hosts), "host"))
	if w := all[0].WhyNot; w != "" {
		d.Para(stopped(d, words.Clean(w)))
	}
	for _, f := range all {
		d.Heading(2, HostFactorsTitle(f))
		d.List(" - ", document.Items(HostFactorSentences(f)))
		if f.Missing == "" {
			d.Gap(document.Text)
			d.Add(HostFactorsTable(f))
			d.Gap(document.Text)
			d.Add(hostSharesTable(f))
		}
		d.Legend(HostFactorsLegend(f)...)
	}
}

// HostFactorsTitle names a metric of a group of workloads.
func HostFactorsTitle(f *factors.OverHosts) string {
	return words.Clean(f.Metric.Title) + " of " + words.Clean(f.Workload)
}

// termName names a factor, or two together.
func termName(s *factors.HostShare) string {
	if s.With == "" {
		return words.Clean(s.Factor)
	}
	return words.Clean(s.Factor) + " × " + words.Clean(s.With)
}

// HostFactorSentences say what depends on the host, and how much hosts matter at all.
func HostFactorSentences(f *factors.OverHosts) []string {
	if f.Missing != "" {
		return []string{words.Sentence("Nothing can be said: " + words.Clean(f.Missing))}
	}
	var out, on, alike []string
	for i := range f.Shares {
		s := &f.Shares[i]
		switch {
		case s.Holm == nil || s.ByHost == nil:
		case *s.Holm < sample.Alpha:
			on = append(on, fmt.Sprintf("%s (%s %% of what it does)", termName(s), words.Fixed(100**s.ByHost, 0)))
		case s.With == "":
			alike = append(alike, termName(s))
		}
	}
	var lost []string
	for i := range f.Shares {
		if s := &f.Shares[i]; s.With == "" && !slices.ContainsFunc(s.Hosts, func(e *sample.Estimate) bool { return e != nil }) {
			lost = append(lost, words.Clean(s.Factor))
		}
	}
	if len(lost) > 0 {
		out = append(out, words.Upper(words.List(lost))+" can't be told apart, since this plan varies them together: one host's plimsoll factors has what they do together.")
	}
	if len(on) > 0 {
		out = append(out, "What depends on the host: "+words.List(on)+".")
	}
	if len(alike) > 0 {
		out = append(out, "That it depends on the host is not found of "+words.List(alike)+".")
	}
	if p := f.Parts; p != nil {
		percent := func(v float64) string { return words.Fixed(100*v, 1) + " %" }
		out = append(out, fmt.Sprintf("Of all variance over hosts and environments, %s is between environments and parameters, %s between hosts (how fast machines are), %s of the two together, %s between the blocks of a host.",
			percent(p.Cells), percent(p.Hosts), percent(p.Both), percent(p.Blocks)))
	}
	return out
}

// HostFactorsTable has a row for each term.
func HostFactorsTable(f *factors.OverHosts) *document.Table {
	t := &document.Table{Columns: document.Columns("factor", "share, %", "least", "greatest", "by host, %", "p (Holm)"), Parts: true}
	t.Columns[0].Names = true
	document.Right(t.Columns[1:])
	for i := range f.Shares {
		s := &f.Shares[i]
		row := []string{termName(s), "n/a", "n/a", "n/a", "n/a", "n/a"}
		if s.Mean != nil {
			row[1] = words.NumberOf(*s.Mean, 0.01, 1).String()
		}
		lo, hi := -1, -1
		for k, e := range s.Hosts {
			if e == nil {
				continue
			}
			if lo < 0 || e.Value < s.Hosts[lo].Value {
				lo = k
			}
			if hi < 0 || e.Value > s.Hosts[hi].Value {
				hi = k
			}
		}
		if lo >= 0 {
			row[2] = words.Fixed(100*s.Hosts[lo].Value, 1) + " on " + words.Clean(f.Hosts[lo])
			row[3] = words.Fixed(100*s.Hosts[hi].Value, 1) + " on " + words.Clean(f.Hosts[hi])
		}
		if s.ByHost != nil {
			row[4] = words.Fixed(100**s.ByHost, 0)
		}
		if s.Holm != nil {
			row[5] = pText(*s.Holm)
		}
		t.Row(row...)
	}
	return t
}

// hostSharesTable has a row for each host, with its own shares.
func hostSharesTable(f *factors.OverHosts) *document.Table {
	t := &document.Table{Columns: document.Columns("host", "blocks"), Parts: true}
	t.Columns[0].Names, t.Columns[1].Right = true, true
	shown := min(len(f.Hosts), mostShown)
	for i := range shown {
		t.Row(words.Clean(f.Hosts[i]), strconv.Itoa(f.Blocks[i]))
	}
	for i := range f.Shares {
		s := &f.Shares[i]
		if s.With != "" {
			continue
		}
		var cells []document.Cell
		for _, e := range s.Hosts[:shown] {
			text := "n/a"
			if e != nil {
				text = words.NumberOf(*e, 0.01, 1).String()
			}
			cells = append(cells, document.Cell{Text: text})
		}
		t.Column(document.Column{Title: termName(s) + ", %", Right: true}, cells)
	}
	if n := len(f.Hosts) - shown; n > 0 {
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Text: fmt.Sprintf("… and %s more: --format json has all", words.Plural(n, "host")), Rest: true}}})
	}
	return t
}

// HostFactorsLegend says how to read the tables, and what is not in them.
func HostFactorsLegend(f *factors.OverHosts) []string {
	var out []string
	if f.Missing == "" {
		interval := " with a 95 % interval by blocks,"
		if f.Bare {
			interval = ""
		}
		out = append(out, fmt.Sprintf("A host's share is ω² of the variance of the logarithm within its own blocks,%s over the %d cells that all hosts have. share: their mean with an interval by hosts, from 5 hosts on; by host: which part of the squares of an effect differs from host to host; p: whether none does (F).", interval, f.Cells))
	}
	out = append(out, fixedLegend(f.Fixed)...)
	for i, l := range f.LeftOut {
		if n := len(f.LeftOut) - mostShown; i == mostShown && n > 1 {
			out = append(out, fmt.Sprintf("… and %d more are left out: plimsoll factors --format json has all.", n))
			break
		}
		out = append(out, words.Sentence(fmt.Sprintf("Left out: %s with %s: %s", words.Clean(l.Env), words.Clean(l.Workload), words.Clean(l.Reason))))
	}
	return out
}
