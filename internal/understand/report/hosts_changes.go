package report

import (
	"cmp"
	"fmt"
	"strconv"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/hosts"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// HostChanges are what differs between two runs of each of several hosts.
var HostChanges = kindOf("changes on several hosts", hostChangesDocument,
	format[*hosts.Changes]{"csv", asCSV(hostChangesCSV)},
	format[*hosts.Changes]{"json", asJSON[*hosts.Changes]},
)

func hostChangesDocument(d *document.Document, c *hosts.Changes, o Options) {
	d.Heading(1, "Changes of "+words.Clean(c.Study)+" on "+words.Plural(len(c.Hosts), "host"))
	d.Para(stopped(d, hostScope(c.Pools, c.WhyNot)))
	for from := 0; from < len(c.Rows); {
		to := from + 1
		for to < len(c.Rows) && c.Rows[to].Workload == c.Rows[from].Workload && c.Rows[to].Metric.ID == c.Rows[from].Metric.ID {
			to++
		}
		rows := c.Rows[from:to]
		from = to
		d.Heading(2, words.Clean(cmp.Or(rows[0].Metric.Title, rows[0].Metric.ID))+" of "+words.Clean(rows[0].Workload)+" ("+words.Better(rows[0].Metric)+")")
		var says []string
		for i := range rows {
			says = append(says, hostChangeSentence(&rows[i]))
		}
		d.List("   ", document.Items(says))
		for i := range rows {
			d.Heading(3, words.Name(rows[i].Env))
			d.Add(hostChangesTable(c, &rows[i], d.Medium == document.Text && !o.NoPlot, d.Width))
		}
	}
	addPlainRemarks(d, c.Remark)
	d.Gap(document.Text)
	d.Legend(fmt.Sprintf("Each host's NEW is compared with its own BASE, as plimsoll compare does with two runs of one machine; times of two machines are never divided. = is equal for practical purposes (within %.3g %%), ~ cannot tell; verdicts are corrected over all hosts and rows (Holm).", 100*c.Delta))
	if c.Pools {
		d.Legend("all machines: the random-effects mean over hosts, with a 95 % interval by hosts. What moved one host between its two runs widens it; what moved all of them alike, such as an update of the kernel, is not told from the change.")
	}
}

// hostChangeSentence says where a change holds, and how large it is.
func hostChangeSentence(r *hosts.ChangeRow) string {
	name, s := words.Name(r.Env), ""
	switch {
	case r.Holds == hosts.Everywhere && r.Worse > 0:
		s = fmt.Sprintf("%s is worse on all %d hosts", name, len(r.Hosts))
	case r.Holds == hosts.Everywhere:
		s = fmt.Sprintf("%s is better on all %d hosts", name, len(r.Hosts))
	case r.Holds == hosts.Alike:
		s = fmt.Sprintf("%s has not changed on any of %d hosts", name, len(r.Hosts))
	case r.Holds == hosts.ByHost:
		s = fmt.Sprintf("%s depends on the host: %s", name, changeCounts(r))
	default:
		s = fmt.Sprintf("%s is not decided on all hosts: %s", name, changeCounts(r))
	}
	if r.Holds == hosts.Everywhere && r.Differ != nil && r.Differ.Found {
		s += ", by how much depends on the host"
	}
	if p := r.Pooled; p != nil {
		s += fmt.Sprintf("; on machines in general × %s, %s", ratioText(&p.Ratio), generalWords[r.Verdict])
		if p.I2 > 0 {
			s += fmt.Sprintf(" (hosts differ by %s)", sample.Percent(p.Spread.Value))
		}
	}
	return s + "."
}

var generalWords = map[compare.Direction]string{compare.Better: "better", compare.Worse: "worse", compare.Same: "equal", compare.Unclear: "not decided"}

var changeMarks = map[compare.Direction]string{compare.Same: "=", compare.Unclear: "~", compare.Better: "better", compare.Worse: "worse"}

func changeCounts(r *hosts.ChangeRow) string {
	missing := lists.Count(r.Hosts, func(a hosts.ChangeAt) bool { return a.Ratio == nil })
	return hostCounts(len(r.Hosts), missing, hostCount{r.Worse, "worse"}, hostCount{r.Better, "better"}, hostCount{r.Equal, "equal"})
}

// hostChangesTable has a row for each host and one for all machines.
func hostChangesTable(c *hosts.Changes, r *hosts.ChangeRow, draw bool, width int) *document.Table {
	var values []float64
	for _, a := range r.Hosts {
		if a.Base != nil && a.New != nil {
			values = append(values, a.Base.Value, a.New.Value)
		}
	}
	u := words.UnitFor(r.Metric.Unit, values)
	out := &document.Table{Columns: document.Columns("host", "BASE, "+u.Name, "NEW, "+u.Name, "NEW / BASE", "blocks", "")}
	out.Columns[0].Names = true
	document.Right(out.Columns[1:5])
	var cells []*analyze.Cell
	for i := range r.Hosts {
		a := &r.Hosts[i]
		row := []string{words.Clean(c.Hosts[i].Label), "n/a", "n/a", "n/a", "", ""}
		if a.Base != nil {
			row[1] = words.NumberOf(*a.Base, u.By, words.Full).Value
		}
		if a.New != nil {
			row[2] = words.NumberOf(*a.New, u.By, words.Full).Value
		}
		cell := (*analyze.Cell)(nil)
		if a.Ratio != nil {
			row[3], row[4] = ratioText(a.Ratio), strconv.Itoa(a.Blocks)
			row[5] = changeMarks[a.Verdict]
			cell = &analyze.Cell{Median: a.Ratio}
		}
		out.Row(row...)
		if a.Ratio == nil && a.Missing != "" {
			out.Rows[len(out.Rows)-1].Below = []document.Line{document.Say("n/a: " + words.Clean(a.Missing))}
		}
		cells = append(cells, cell)
	}
	if p := r.Pooled; p != nil {
		out.Row("all machines", "", "", ratioText(&p.Ratio), "", changeMarks[r.Verdict])
		out.Rows[len(out.Rows)-1].Tone = document.Head
		cells = append(cells, &analyze.Cell{Median: &p.Ratio})
	}
	if draw {
		drawForest(out, cells, width)
	}
	return out
}
