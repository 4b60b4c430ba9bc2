package report

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// verdictTones colour what asks for attention.
var verdictTones = map[analyze.ClaimVerdict]document.Tone{analyze.ClaimContradicted: document.Warn, analyze.ClaimNotTested: document.Dim}

func findingsDocument(d *document.Document, f found, _ Options) {
	if f.one != nil {
		addClaim(d, f.one)
		return
	}
	addFindings(d, f.Findings, 1, false)
	if d.Medium == document.Markdown {
		addFindingsEnd(d, f.Findings)
		return
	}
	if len(f.Remarks) > 0 {
		d.Heading(2, "Remarks")
	}
	for _, m := range f.Remarks {
		d.Led("   ", remarkText(m), document.Plain)
		d.Led("   → ", words.Clean(m.Advice), document.Dim)
	}
	for _, r := range f.Runs {
		d.Gap(document.Text)
		d.Led("run      ", fmt.Sprintf("%s of %s, %s, %s", words.Clean(r.ID), words.Clean(r.Study), r.Started.UTC().Format("2006-01-02 15:04:05 MST"), words.Plural(r.Blocks, "block")), document.Plain)
		d.Led("machine  ", words.Clean(r.Machine), document.Plain)
	}
}

// addFindingsEnd are the remarks and the runs as paragraphs.
func addFindingsEnd(d *document.Document, f *analyze.Findings) {
	for _, m := range f.Remarks {
		text := document.Of(document.Strong, words.Clean(m.Code)+".", " "+words.Sentence(words.Clean(m.Text)))
		if m.Advice != "" {
			text = append(text, document.Span{Text: " "}, document.Span{Text: words.Clean(m.Advice) + ".", Style: document.Slanted})
		}
		d.Add(document.Para{Text: text})
	}
	for i, r := range f.Runs {
		d.Add(document.Para{Tight: i > 0, Text: document.Say(fmt.Sprintf("Run %s of %s on %s: %s.",
			words.Clean(r.ID), words.Clean(r.Study), words.Clean(r.Machine), words.Plural(r.Blocks, "block")))})
	}
	if len(f.Runs) == 0 {
		d.Gap(document.Markdown)
	}
}

// shownValues is how many published numbers stand in the table of all claims.
const shownValues = 4

// addFindings is a row for each claim, with sentences below it. What was published
// stands in a column of its own, or below where a page has no room for it.
func addFindings(d *document.Document, f *analyze.Findings, level int, brief bool) {
	d.Heading(level, findingsTitle(f))
	t := &document.Table{Columns: document.Columns("claim", "verdict", "here"), Below: "what it says, and what that rests on"}
	for i := range f.Claims {
		c := &f.Claims[i]
		row := document.Row{Cells: document.Cells(words.Clean(c.ID), verdictOf(c), hereOf(c)), Tone: verdictTones[c.Verdict]}
		for k, l := range lines(c, brief) {
			row.Below = append(row.Below, document.Say(l))
			if k == 0 {
				row.Below[0][0].Style = document.Strong
			}
		}
		t.Rows = append(t.Rows, row)
	}
	room := d.Width - t.Width() - document.Between
	fits := func(s string) bool { return d.Medium == document.Markdown || words.Width(s) <= room }
	title := document.Column{Title: "published", Slanted: true}
	if !fits(title.Title) {
		title.Title = ""
	}
	t.Columns = append(t.Columns, title)
	for i := range f.Claims {
		quote, row := quoted(f.Claims[i].Published, shownValues), &t.Rows[i]
		if quote != "" && !fits(quote) {
			row.Below = slices.Insert(row.Below, 1, document.Say("published "+quote))
			quote = ""
		}
		row.Cells = append(row.Cells, document.Cell{Text: quote, Slanted: true})
	}
	d.Gap(document.Text)
	d.Add(t)
	d.Gap(document.Text)
	d.Legend(findingsLegend(f)...)
}

// addClaim is one claim with all of its pairs.
func addClaim(d *document.Document, c *analyze.Finding) {
	md := d.Medium == document.Markdown
	d.Heading(1, words.Clean(c.ID)+": "+verdictOf(c))
	d.Para(words.Prose(c.Says))
	d.Gap(document.Text)
	d.Para(words.Prose(c.Reason))
	for _, s := range []string{notAsInPaper(c.Differs), fromRuns(c)} {
		if s != "" {
			d.Gap(document.Text)
			d.Para(s)
		}
	}
	if len(c.Pairs) > 0 {
		addPairTables(d, c.Pairs)
		d.Gap(document.Text)
		d.Legend(pairsLegend(c))
	}
	if c.Features != nil {
		addFeatureClaim(d, c.Features)
	}
	if c.Instead != nil {
		addInstead(d, c.Instead)
	}
	addLacks(d, c.Without)
	if quote, sources := quoted(c.Published, len(c.Published)), sourcesOf(c.Published); md && len(c.Published) > 0 {
		d.Add(document.Para{Text: document.Line{{Text: "Published: "}, {Text: quote, Style: document.Slanted}, {Text: " (" + sources + ")"}}})
	} else if len(c.Published) > 0 {
		d.Gap(document.Text)
		d.Led("published  ", quote, document.Plain)
		d.Led("           ", sources, document.Dim)
	}
	if c.Why != "" {
		addWhy(d, c)
	}
	d.Gap(document.Markdown)
}

// addWhy is the question that a claim leads to, with its answers.
func addWhy(d *document.Document, c *analyze.Finding) {
	if d.Medium == document.Markdown {
		d.Heading(2, "Why?")
		d.Para(words.Prose(c.Why))
	} else {
		d.Gap(document.Text)
		d.Led("Why?  ", words.Prose(c.Why), document.Plain)
	}
	tables := false
	answer := func(text string) {
		if tables {
			d.Gap(document.Text) // a table above belongs to another answer
		}
		d.List("   → ", document.Items([]string{text}))
	}
	for i := range c.Answers {
		a := &c.Answers[i]
		if a.Verdict == analyze.ClaimNotTested && (a.Command != "" || a.Failed != "") {
			continue // below
		}
		answer(words.Prose(a.Text))
		addPairTables(d, a.Pairs)
		tables = tables || len(a.Pairs) > 0
		addLacks(d, a.Without)
	}
	for _, x := range untested(c.Answers) {
		answer(x)
	}
}

func addLacks(d *document.Document, list []analyze.ClaimLack) {
	var items []document.Item
	for _, l := range list {
		what, why := words.Clean(l.What), words.Sentence(words.Clean(l.Reason))
		text := document.Say(what + ": " + why)
		if d.Medium == document.Markdown {
			text = document.Line{{Text: "not measured: "}, {Text: what, Style: document.Strong}, {Text: ", " + why}}
		}
		items = append(items, document.Item{Text: text, Advice: document.Advice{Text: words.Clean(l.Fix), Fix: true}})
	}
	if len(list) > 0 && d.Medium == document.Text {
		d.Heading(2, "Not measured")
	}
	d.List("   ", items)
}

// addPairTables are a table for each subject and each stated range. On a narrow
// page the names give way.
func addPairTables(d *document.Document, pairs []analyze.ClaimPair) {
	tables := map[string]*document.Table{}
	for i := range pairs {
		c := &pairs[i]
		title := words.Clean(c.Subject()) + ", stated: " + words.Clean(c.Range)
		t := tables[title]
		if t == nil {
			t = &document.Table{Columns: document.Columns("A", "over B", "here", "verdict", "blocks")}
			t.Columns[4].Right = true
			tables[title] = t
			d.Heading(0, title)
			d.Add(t)
		}
		b := ""
		if c.B != nil {
			b = c.B.Env
		}
		t.Row(words.Clean(c.A.Env), words.Clean(b), pairNumber(c), verdictWord(c.Verdict), fmt.Sprint(c.Blocks))
	}
	for _, t := range tables {
		over, w := t.Width()-d.Width, t.Widths()
		if over <= 0 || d.Medium != document.Text {
			continue
		}
		var names []string // of both sides, which must not look alike
		for _, r := range t.Rows {
			names = append(names, r.Cells[0].Text, r.Cells[1].Text)
		}
		for k := range 2 {
			room := max(12, w[k]-(over+1)/2)
			short := words.Apart(names, room, room)
			for i := range t.Rows {
				t.Rows[i].Cells[k].Text = short[2*i+k]
			}
		}
	}
}

// pairsLegend says what the numbers are, and in what the pairs differ besides.
func pairsLegend(c *analyze.Finding) string {
	s := "here: over blocks, with its " + intervalLevels([]analyze.Finding{*c}) + " interval."
	if slices.ContainsFunc(c.Pairs, func(p analyze.ClaimPair) bool { return p.Level > 0 }) {
		s += " The run looked at its claims more than once, so each look has its share of the 5 %."
	}
	if c.Test != "" {
		s += fmt.Sprintf(" A pair contradicts the claim only where the %s test, corrected by Holm over %s, does too.", c.Test, words.Plural(len(c.Pairs), "pair"))
	}
	var also []string
	for _, p := range c.Pairs {
		also = analyze.Also(also, lists.Map(p.Also, words.Clean)...)
	}
	if len(also) > 0 {
		s += " Pairs differ in more than they are named for: " + strings.Join(also, ", ") + "."
	}
	return s
}

// addFeatureClaim has a row for each cell that is not as published, and others for those that
// are undecided.
func addFeatureClaim(d *document.Document, f *analyze.FeatureClaim) {
	add := func(cells []analyze.FeatureDifference, last string, of func(analyze.FeatureDifference) string) {
		t := &document.Table{Columns: document.Columns("feature", "engine", "here", "published", last)}
		for _, c := range cells {
			t.Row(words.Clean(c.Feature), words.Clean(c.Engine), words.Clean(c.Here), `"`+words.Clean(c.Published)+`"`, words.Clean(of(c)))
		}
		d.Add(t)
	}
	if len(f.Differ) > 0 {
		d.Gap(document.Text)
		add(f.Differ, "why", func(c analyze.FeatureDifference) string { return c.Why })
	}
	if len(f.Undecided) > 0 {
		d.Heading(0, "undecided, and in no verdict")
		add(f.Undecided, "can't be tried here", func(c analyze.FeatureDifference) string { return c.Lacking })
	}
}
