package report

import (
	"cmp"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/verdict"
	"plimsoll/internal/understand/words"
)

// resultDocument is the whole of a result, or the rankings and what is to be
// said of them.
func resultDocument(d *document.Document, res *analyze.Result, opts Options) {
	rankings := rankingsOf(res, opts)
	var groups []*remarkGroup
	hidden, brief := 0, opts.Brief && d.Medium == document.Markdown
	if d.Medium != document.LaTeX { // the remarks are not in its tables
		groups, hidden = groupRemarks(res, rankings)
	}
	d.Comment(words.Clean(headline(res)) + "; run " + words.Clean(res.Run.ID))
	d.Comment(`needs \usepackage{booktabs} and an engine that reads UTF-8`)
	begin(d, "", res)
	said := verdict.Of(res, opts.Metric)
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Of(document.Strong, "Verdict.", " "+words.Prose(strings.Join(said, " ")))})
	}
	addChecks(d, res)
	if t, baseline := overview(res, rankings); t != nil {
		d.Heading(2, "Overview")
		d.Add(t)
		d.Legend(overviewLegend(baseline, res.Run.Delta))
	}
	if opts.Metric == "" {
		addAblations(d, res)
		addCharges(d, res)
		addSteadiness(d, res, 2)
	}
	for i, r := range rankings {
		l := rankingTable(d, r, res.Run.Delta, opts, i+1)
		if brief {
			continue
		}
		addMoreOn(d, r, l)
		if i+1 == len(rankings) || rankings[i+1].work != r.work {
			addFurtherMetrics(d, r, rankings)
			addProtocols(d, r.work)
		}
	}
	addPapers(d, res)
	if res.Findings != nil && opts.Metric == "" {
		addFindings(d, res.Findings, 2, true)
	}
	if res.Features != nil && opts.Metric == "" {
		addFeatures(d, res.Features, 2, false)
	}
	addRemarks(d, groups, hidden)
	if !brief {
		addExcluded(d, res)
		addWhatRan(d, res)
	}
	if d.Medium == document.Text { // a terminal shows the end
		d.Gap(document.Text)
		sayVerdict(d, said)
	}
	origin(d, res)
}

// begin names the run and says how its trials were run, below what is shown of
// it where that is not all.
func begin(d *document.Document, what string, res *analyze.Result) {
	title := headline(res)
	if what != "" && d.Medium == document.Markdown {
		title = what + ": " + title
	}
	d.Heading(1, title)
	d.Para(stopped(d, protocol(res)))
}

// stopped ends a line where it is a paragraph.
func stopped(d *document.Document, s string) string {
	if d.Medium == document.Markdown {
		return s + "."
	}
	return s
}

func sayVerdict(d *document.Document, said []string) {
	lead, tone := "verdict  ", document.Head
	for _, s := range said {
		d.Led(lead, words.Prose(s), tone)
		lead, tone = "         ", document.Plain
	}
}

// origin says where, when and how to repeat it.
func origin(d *document.Document, res *analyze.Result) {
	repeat := words.Command(res.Run.Repeat)
	if d.Medium == document.Markdown {
		d.Para("Machine: " + machine(res.Run.Host) + ".")
		d.Para("Run: " + when(res) + ".")
		if repeat != "" {
			d.Add(document.Para{Text: document.Line{{Text: "Repeat: "}, {Text: repeat, Style: document.Code}}})
		}
		return
	}
	d.Gap(document.Text)
	d.Led("machine  ", machine(res.Run.Host), document.Plain)
	d.Led("run      ", when(res), document.Plain)
	if repeat != "" {
		d.Add(document.Para{Text: document.Say(repeat), Lead: "repeat   ", Command: true})
	}
}

// addFurtherMetrics are the medians of what has no table of its own.
func addFurtherMetrics(d *document.Document, r *ranking, shown []*ranking) {
	name := words.Clean(cmp.Or(r.work.Title, r.work.ID))
	if t := ownMetrics(r, shown); len(t.Columns) > 1 {
		d.Heading(3, "Further metrics of "+name+" (medians)")
		d.Add(t)
	}
	t := phases(r, shown)
	// How long a benchmark's container lived is how long the benchmark took.
	if len(t.Columns) < 2 || r.work.Table("time") != nil {
		return
	}
	d.Heading(3, "Phases of "+name+" (medians)")
	d.Add(t)
	missing := whyMissing(r)
	for why, envs := range missing.All() {
		d.Legend("n/a for " + words.Clean(strings.Join(envs, ", ")) + ": " + words.Sentence(words.Clean(why)))
	}
}

// addProtocols adds the sections of a workload.
func addProtocols(d *document.Document, work *analyze.Workload) {
	for _, s := range sections(work) {
		d.Heading(3, s.title)
		d.Add(s.table)
		d.Legend(s.notes...)
	}
}

func addRemarks(d *document.Document, groups []*remarkGroup, hidden int) {
	if len(groups) == 0 && hidden == 0 {
		return
	}
	d.Heading(2, "Remarks")
	l := document.List{Numbered: true}
	for _, g := range groups {
		m := document.Item{Text: document.Of(document.Strong, g.code+".", " "+words.Sentence(g.text())), Advice: document.Advice{Text: words.Clean(g.advice)}}
		if g.level != "info" {
			m.Tone = document.Warn
		}
		l.Items = append(l.Items, m)
	}
	if len(l.Items) > 0 {
		d.Add(l)
	}
	if hidden > 0 {
		d.Led("   ", words.Plural(hidden, "further remark")+" on metrics that are not ranked here: see the format json.", document.Dim)
	}
}

// addPlainRemarks are remarks one by one.
func addPlainRemarks(d *document.Document, all []record.Remark) {
	if len(all) == 0 {
		return
	}
	d.Heading(2, "Remarks")
	var items []document.Item
	for _, r := range all {
		m := document.Item{Text: document.Say(remarkText(r)), Advice: document.Advice{Text: words.Clean(r.Advice)}}
		if r.Level != "info" {
			m.Tone = document.Warn
		}
		items = append(items, m)
	}
	d.List("   ", items)
}

func addExcluded(d *document.Document, res *analyze.Result) {
	if len(res.Excluded) == 0 {
		return
	}
	d.Heading(2, "What could not run")
	var items []document.Item
	for _, x := range excludedOf(res) {
		items = append(items, document.Item{Text: document.Of(document.Strong, x.names, ": "+x.reason), Advice: document.Advice{Text: x.fix, Fix: true}})
	}
	d.List("   ", items)
}

// addWhatRan says what each environment is: of a page of fixed width, what it has
// room for.
func addWhatRan(d *document.Document, res *analyze.Result) {
	if d.Medium == document.Markdown {
		d.Heading(2, "What ran")
		var items []document.Item
		for _, e := range res.Environments {
			items = append(items, document.Item{Text: document.Of(document.Strong, words.Clean(e.ID), ": "+cmp.Or(describe(e, nil), "nothing is known of it"))})
		}
		d.List("", items)
		return
	}
	var lines [][2]string
	names := 0
	for _, e := range res.Environments {
		if s := describe(e, short); s != "" {
			lines = append(lines, [2]string{words.Clean(e.ID), s})
			names = max(names, words.Width(words.Clean(e.ID)))
		}
	}
	if len(lines) == 0 {
		return
	}
	d.Heading(2, "What ran")
	names = min(names, d.Width/3)
	short := words.Apart(lists.Map(lines, func(l [2]string) string { return l[0] }), names, names)
	for i, l := range lines {
		d.Led(document.Pad(short[i], names, false)+"  ", l[1], document.Plain)
	}
}

// rankingTable shows a ranking in the widest layout that there is room for; it
// is the n-th of the report.
func rankingTable(d *document.Document, r *ranking, delta float64, opts Options, n int) layout {
	m := r.table.Metric
	work, title := words.Clean(cmp.Or(r.work.Title, r.work.ID)), words.Clean(m.Title)
	what := strings.TrimSuffix(words.Clean(cmp.Or(m.What, m.Title)), ".") + "; " + words.Better(m)
	legend := r.legend(delta)
	if d.Medium != document.Text {
		l := fullLayout
		if d.Medium == document.Markdown {
			l.host = interval
		} else {
			l.notes, l.whole = false, true
		}
		d.Heading(2, work+": "+title)
		d.Para(what + ".")
		t := r.layOut(l)
		t.Caption, t.Label = work+": "+what+".", strconv.Itoa(n)
		d.Add(t)
		for _, s := range legend {
			d.Para(s)
			t.Caption += " " + words.Sentence(words.Clean(s))
		}
		return l
	}
	if m.What != "" {
		title += ", " + what
	} else {
		title += "; " + words.Better(m)
	}
	d.Heading(2, work+": "+title)
	d.Gap(document.Text)
	p := page{d.Width, opts}
	l, t := p.layout(r)
	blocks, beside := p.addPlot(r, t)
	d.Add(t)
	if !beside {
		var below *document.Table
		if below, blocks = p.plot(r); below != nil {
			d.Gap(document.Text)
			d.Add(below)
		}
	}
	if blocks != nil {
		legend = append(legend, blocks.legend())
	}
	if lost := r.leftOut(l); lost != "" {
		legend = append(legend, lost)
	}
	if len(legend) > 0 {
		d.Gap(document.Text)
		d.Legend(legend...)
	}
	return l
}

// addMoreOn shows what the ranking had no room for.
func addMoreOn(d *document.Document, r *ranking, l layout) {
	if t := r.more(l); len(t.Rows) > 0 {
		d.Heading(3, "More on "+words.Clean(r.table.Metric.Title))
		d.Add(t)
		d.Legend(r.moreLegend())
	}
}
