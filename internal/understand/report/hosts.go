package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Hosts are what runs on several hosts say together.
var Hosts = kindOf("hosts", hostsDocument,
	format[*hosts.Hosts]{"csv", asCSV(hostsCSV)},
	format[*hosts.Hosts]{"json", asJSON[*hosts.Hosts]},
)

func hostsDocument(d *document.Document, h *hosts.Hosts, o Options) {
	d.Heading(1, HostsTitle(h))
	d.Para(stopped(d, HostsScope(h)))
	d.Add(HostTable(h))
	for i := range h.Tables {
		t := &h.Tables[i]
		d.Heading(2, HostsTableTitle(t))
		d.List("   ", document.Items(HostSentences(h, t)))
		if h.Pools && len(t.Rows) > 0 {
			d.Gap(document.Text)
			d.Add(PooledTable(t))
		}
		for k := range t.Rows {
			d.Heading(3, words.Name(t.Rows[k].Env)+" / "+words.Name(t.Rows[k].Against))
			d.Add(RowTable(h, t, &t.Rows[k], d.Medium == document.Text && !o.NoPlot, d.Width))
		}
		if len(t.Rows) == 0 {
			d.Add(TimesTable(h, t))
		}
	}
	addPlainRemarks(d, h.Remark)
	d.Gap(document.Text)
	d.Legend(HostsLegend(h)...)
}

// HostsTitle is what the summary is of.
func HostsTitle(h *hosts.Hosts) string {
	return words.Clean(cmp.Or(h.Study, h.Source)) + " on " + words.Plural(len(h.Hosts), "host")
}

// HostsScope says what the intervals are about, or why there is none over hosts.
func HostsScope(h *hosts.Hosts) string { return hostScope(h.Pools, h.WhyNot) }

func hostScope(pools bool, whyNot string) string {
	if !pools {
		return words.Clean(whyNot)
	}
	return "By blocks what is said of these hosts, by hosts what is said of machines in general"
}

// HostsTableTitle names a metric of a workload.
func HostsTableTitle(t *hosts.Table) string {
	return words.Clean(cmp.Or(t.Metric.Title, t.Metric.ID)) + " of " + words.Clean(cmp.Or(t.Title, t.Workload)) + " (" + words.Better(t.Metric) + ")"
}

// HostTable has a row for each host.
func HostTable(h *hosts.Hosts) *document.Table {
	t := &document.Table{Columns: document.Columns("host", "machine", "runs", "blocks", "trials", "failed"), Parts: true}
	document.Right(t.Columns[2:])
	t.Columns[0].Names = true
	for _, x := range h.Hosts {
		m := "not known"
		if k := x.Machine; k.CPU != "" || k.Kernel != "" {
			m = fmt.Sprintf("%d × %s, %s, Linux %s", k.CPUs, words.Clean(k.CPU), words.Clean(k.Arch), words.Clean(k.Kernel))
		}
		n := func(v int) string {
			if v == 0 && h.Source != "" {
				return ""
			}
			return strconv.Itoa(v)
		}
		t.Row(words.Clean(x.Label), m, n(len(x.Runs)), n(x.Blocks), n(x.Trials), n(x.Failed))
	}
	return t
}

// PooledTable has a row for each ratio, for machines in general.
func PooledTable(t *hosts.Table) *document.Table {
	out := &document.Table{Columns: document.Columns("environment", "ratio", "one more host", "hosts differ by", "I²", "p (Holm)", "holds"), Parts: true}
	document.Right(out.Columns[1:6])
	out.Columns[0].Names = true
	for i := range t.Rows {
		r := &t.Rows[i]
		row := []string{words.Name(r.Env), "n/a", "", "", "", "", holdsWord(r, t)}
		if p := r.Pooled; p != nil {
			row[1] = ratioText(&p.Ratio)
			if p.Next != nil {
				row[2] = words.NumberOf(*p.Next, 1, 3).Interval
			}
			row[3] = spreadText(p)
			if p.Method == hosts.RandomEffects {
				row[4] = words.Fixed(100*p.I2, 0) + " %"
			}
		}
		if r.Differ != nil {
			row[5] = pText(r.Differ.Holm)
		}
		out.Row(row...)
	}
	return out
}

func spreadText(p *hosts.Pooled) string {
	n := words.NumberOf(p.Spread, 0.01, 1)
	return strings.TrimSpace(n.Value + " % " + n.Interval)
}

// mostShown is how many hosts a table of one ratio has; of more it shows the least and
// the greatest.
const mostShown = 24

// RowTable has a row for each host, with its median, the one of what it is held
// against, and the ratio; where there is room, the intervals drawn. Of many hosts it has
// those at both ends.
func RowTable(h *hosts.Hosts, t *hosts.Table, r *hosts.Row, draw bool, width int) *document.Table {
	shown, left := hostsShown(r)
	return rowTable(h, t, r, shown, left, draw, width)
}

// WholeRowTable has a row for each host, however many there are.
func WholeRowTable(h *hosts.Hosts, t *hosts.Table, r *hosts.Row) *document.Table {
	all := make([]int, len(r.Hosts))
	for i := range all {
		all[i] = i
	}
	return rowTable(h, t, r, all, 0, false, 0)
}

func rowTable(h *hosts.Hosts, t *hosts.Table, r *hosts.Row, shown []int, left int, draw bool, width int) *document.Table {
	unit := words.UnitFor(t.Metric.Unit, t.Medians())
	out := &document.Table{Columns: document.Columns("host", words.Name(r.Env)+", "+unit.Name, words.Name(r.Against)+", "+unit.Name, "ratio", "blocks", "")}
	out.Columns[0].Names = true
	document.Right(out.Columns[1:5])
	own, base := timesOf(t, r.Env), timesOf(t, r.Against)
	var cells []*analyze.Cell
	for _, i := range shown {
		a := &r.Hosts[i]
		row := []string{words.Clean(h.Hosts[i].Label), timeText(own, i, unit), timeText(base, i, unit), "", "", verdictMark(a)}
		if a.Missing != "" {
			row[3] = "n/a"
			out.Row(row...)
			out.Rows[len(out.Rows)-1].Below = []document.Line{document.Say("n/a: " + words.Clean(a.Missing))}
			cells = append(cells, nil)
			continue
		}
		row[3] = ratioText(&a.Estimate)
		if a.Blocks > 0 {
			row[4] = strconv.Itoa(a.Blocks)
		}
		out.Row(row...)
		cells = append(cells, &analyze.Cell{Median: &a.Estimate})
	}
	if p := r.Pooled; p != nil {
		out.Row("all machines", "", "", ratioText(&p.Ratio), "", "")
		out.Rows[len(out.Rows)-1].Tone = document.Head
		cells = append(cells, &analyze.Cell{Median: &p.Ratio})
	}
	if left > 0 {
		out.Rows = append(out.Rows, document.Row{Cells: []document.Cell{{Text: fmt.Sprintf("… and %s between them: --format csv has all", words.Plural(left, "host")), Rest: true}}})
		cells = append(cells, nil)
	}
	if draw {
		drawForest(out, cells, width)
	}
	return out
}

// drawForest puts the intervals into a last column, with a line at 1.
func drawForest(t *document.Table, cells []*analyze.Cell, width int) {
	used := 0
	for k := range t.Columns {
		w := words.Width(t.Columns[k].Title)
		for _, r := range t.Rows {
			if k < len(r.Cells) && !r.Cells[k].Rest {
				w = max(w, words.Width(r.Cells[k].String()))
			}
		}
		used += w + 2
	}
	a, ok := axisFor(cells, min(40, width-used-2))
	if !ok {
		return
	}
	if a.lo < 0 && a.hi > 0 {
		a.base = 1
	}
	for i := range t.Rows {
		if c := t.Rows[i].Cells; len(c) == len(t.Columns) {
			t.Rows[i].Cells = append(t.Rows[i].Cells, document.Cell{Text: a.mark(cells[i])})
		}
	}
	t.Columns = append(t.Columns, document.Column{})
}
