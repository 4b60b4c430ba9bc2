package plot

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/words"
)

// hostsChart is the one picture of several hosts.
const hostsChart = "forest"

// manyHosts is from how many hosts on a chart has lower rows, the least ratio first.
const manyHosts = 24

// Hosts writes a forest plot of what several hosts say of one metric: for each ratio a
// row for each host, and one for all machines where there are enough of them. Times
// stand beside in numbers, since those of two machines have no common axis that says
// anything.
func Hosts(w io.Writer, format string, h *hosts.Hosts, o Options) error {
	o, err := o.normal()
	if err != nil {
		return err
	}
	t, err := hostsTable(h, o)
	if err != nil {
		return err
	}
	p := &picture{
		name: hostsChart, title: capital(words.Clean(cmp.Or(t.Metric.Title, t.Metric.ID))) + " of " + words.Clean(cmp.Or(t.Title, t.Workload)) + " on " + words.Plural(len(h.Hosts), "host"),
		sub: []string{words.Clean(cmp.Or(h.Study, h.Source)) + " · " + words.Better(t.Metric)},
	}
	p.notes = hostsNotes(h, t)
	var titles []string
	var charts []*rowChart
	for i := range t.Rows {
		c := forestChart(h, t, &t.Rows[i], palette[i%len(palette)])
		c.layOut(o.Width - 2*margin)
		charts, titles = append(charts, c), append(titles, forestTitle(&t.Rows[i]))
		p.desc = append(p.desc, titles[i])
		for _, r := range c.rows {
			p.desc = append(p.desc, r.mark.title)
		}
	}
	p.stack(titles, charts)
	return p.write(w, format, o)
}

// hostsTable is the table to draw: the first that has ratios, or what was asked for.
func hostsTable(h *hosts.Hosts, o Options) (*hosts.Table, error) {
	var known []string
	for i := range h.Tables {
		t := &h.Tables[i]
		if (o.Workload == "" || t.Workload == o.Workload) && (o.Metric == "" || t.Metric.ID == o.Metric) && len(t.Rows) > 0 {
			return t, nil
		}
		known = append(known, t.Workload+" "+t.Metric.ID)
	}
	return nil, noData("no ratios of this choice on these hosts: there are tables of %s", words.Clean(strings.Join(known, ", ")))
}

func hostsNotes(h *hosts.Hosts, t *hosts.Table) []string {
	s := fmt.Sprintf("Points are ratios inside a host, within its blocks, lines their 95 %% intervals: they are about that machine. Medians are in %s and never divided across hosts.", cmp.Or(words.UnitFor(t.Metric.Unit, t.Medians()).Name, "value"))
	if h.Source != "" {
		return []string{"Published values without blocks: a host is one value, the ratio of two medians, and has no interval."}
	}
	if !h.Pools {
		return []string{s, words.Sentence(words.Clean(h.WhyNot))}
	}
	out := []string{s, "All machines: the random-effects mean over hosts, with its 95 % interval by hosts."}
	if slices.ContainsFunc(t.Rows, func(r hosts.Row) bool { return r.Pooled != nil && r.Pooled.Next != nil }) {
		out[1] += " The thin line is where the ratio on one more host lies."
	}
	return out
}

// forestTitle names a ratio and says how much hosts differ in it.
func forestTitle(r *hosts.Row) string {
	s := words.Name(r.Env) + " / " + words.Name(r.Against)
	if p := r.Pooled; p != nil && p.Method == hosts.RandomEffects {
		s += fmt.Sprintf(": hosts differ by %s, I² %s %%", sample.Percent(p.Spread.Value), words.Fixed(100*p.I2, 0))
	}
	if r.Differ != nil && r.Differ.Found {
		s += "; it depends on the host"
	}
	return s
}
