package report

import (
	"cmp"
	"fmt"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/advise"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Advice is a ranking for a use.
var Advice = kindOf("an advice", adviceDocument, format[*advise.Advice]{"json", asJSON[*advise.Advice]})

// adviceList is a list with its title.
type adviceList struct {
	title string
	items []document.Item
}

func adviceDocument(d *document.Document, a *advise.Advice, _ Options) {
	d.Heading(1, adviceTitle(a))
	d.Para(adviceRuns(a))
	d.Gap(document.Text)
	addAdviceVerdict(d, a)
	addMarked(d, 2, adviceCriteria(a))
	if len(a.Ranked) > 0 {
		if d.Medium == document.Markdown {
			d.Heading(2, "Ranking")
		}
		d.Gap(document.Text)
		d.Add(adviceTable(a))
		d.Gap(document.Text)
		d.Legend(adviceLegend(a))
		d.Heading(2, "The case for and against")
		for _, l := range adviceEvidence(a) {
			d.Add(document.Heading{Level: 3, Text: l.title, Inner: true}, document.List{Items: l.items, Lead: "   ", Marked: true})
		}
	}
	for _, l := range append(adviceApart(a), adviceChanges(a), adviceAdditions(a), adviceSensitivity(a), adviceRemarks(a)) {
		addMarked(d, 2, l)
	}
	d.Gap(document.Markdown)
}

// addMarked adds a list under its title, where it has items.
func addMarked(d *document.Document, level int, l adviceList) {
	if len(l.items) > 0 {
		d.Heading(level, l.title)
		d.Add(document.List{Items: l.items, Lead: " ", Marked: true})
	}
}

// addAdviceVerdict is who comes first, and what would decide where nobody does.
func addAdviceVerdict(d *document.Document, a *advise.Advice) {
	addSentences(d, verdictSentences(a))
	var decide []document.Item
	for _, s := range a.Verdict.Decide {
		m := document.Span{Text: words.Clean(s)}
		if strings.HasPrefix(m.Text, "plimsoll ") {
			m.Style = document.Code
		}
		text := document.Line{m}
		if d.Medium == document.Markdown {
			text = document.Line{{Text: "What would decide: "}, m}
		}
		decide = append(decide, document.Item{Text: text})
	}
	d.List("→ ", decide)
}

// addSentences adds a paragraph for each, of which the first is set off.
func addSentences(d *document.Document, sentences []string) {
	for i, s := range sentences {
		p := document.Para{Text: document.Say(s)}
		if i == 0 {
			p.Text[0].Style, p.Tone = document.Strong, document.Head
		}
		d.Add(p)
	}
}

// adviceChanges lists what an engine can do without, and what that costs its user.
func adviceChanges(a *advise.Advice) adviceList {
	l := adviceList{title: "What could be saved, and its price"}
	for _, c := range a.Savings {
		verb := "saves"
		if c.Metric.Better == record.HigherIsBetter {
			verb = "gains"
		}
		s := fmt.Sprintf("%s without %s %s %s of %s; %s", words.Clean(c.Engine), words.Clean(c.Mechanism), verb, words.Amount(c.Saves.Value, c.Metric.Unit), words.Amount(c.Base, c.Metric.Unit), words.Clean(c.Price))
		if c.Given != "" {
			s += ", and " + words.Clean(c.Given) + " must be gone already"
		}
		l.items = append(l.items, document.Item{Text: document.Say(words.Sentence(s))})
	}
	return l
}

// adviceAdditions lists what an engine can also do, and what that takes; what can't be
// told from nothing stands in one line for each engine.
func adviceAdditions(a *advise.Advice) adviceList {
	l := adviceList{title: "What could be added, and what it takes"}
	for i := 0; i < len(a.Additions); {
		of := a.Additions[i]
		var free []string
		for ; i < len(a.Additions) && a.Additions[i].Engine == of.Engine && a.Additions[i].Run == of.Run && a.Additions[i].Metric.ID == of.Metric.ID; i++ {
			c := a.Additions[i]
			if !surely(&c.Costs) || c.Costs.Value < 0 {
				free = append(free, words.Clean(c.Mechanism))
				continue
			}
			s := fmt.Sprintf("%s with %s costs %s on top of %s", words.Clean(c.Engine), words.Clean(c.Mechanism), words.Amount(c.Costs.Value, c.Metric.Unit), words.Amount(c.Base, c.Metric.Unit))
			if c.Metric.Better == record.HigherIsBetter {
				s = fmt.Sprintf("%s with %s loses %s of %s", words.Clean(c.Engine), words.Clean(c.Mechanism), words.Amount(c.Costs.Value, c.Metric.Unit), words.Amount(c.Base, c.Metric.Unit))
			}
			l.items = append(l.items, document.Item{Text: document.Say(words.Sentence(s + "; " + words.Clean(c.Gives)))})
		}
		if len(free) > 0 {
			s := fmt.Sprintf("%s with %s: no measurable cost", words.Clean(of.Engine), words.List(free))
			l.items = append(l.items, document.Item{Text: document.Say(words.Sentence(s))})
		}
	}
	return l
}

// adviceRemarks lists what weakens the whole.
func adviceRemarks(a *advise.Advice) adviceList {
	var names nameGroups
	name := shortNames(lists.Map(a.Remarks, func(m record.Remark) string { return m.Env }))
	for _, m := range a.Remarks {
		names.add(marks{text: remarkText(m), advice: words.Clean(m.Advice)}, name(m.Env))
	}
	l := adviceList{"Remarks", names.items()}
	for _, m := range l.items {
		m.Text[0].Text = strings.TrimLeft(m.Text[0].Text, ": ")
	}
	return l
}

// adviceTitle names the use.
func adviceTitle(a *advise.Advice) string {
	return fmt.Sprintf("Advice for %s: %s", words.Clean(a.Profile.Name), words.Clean(a.Profile.Title))
}

// adviceRuns names what it rests on.
func adviceRuns(a *advise.Advice) string {
	var parts []string
	for _, r := range a.Runs {
		parts = append(parts, fmt.Sprintf("run %s of %s, %s, %s", words.Clean(r.ID), words.Clean(r.Study), words.Plural(r.Blocks, "block"), r.Started.UTC().Format("2006-01-02 15:04 MST")))
	}
	s := "From " + strings.Join(parts, "; ")
	if a.Features != nil {
		s += "; the feature table made on " + words.Clean(cmp.Or(a.Features.Host, "an unknown machine"))
	}
	return s + "."
}

// verdictSentences say who comes first, as far as that is known.
func verdictSentences(a *advise.Advice) []string {
	v := a.Verdict
	names := words.Clean(strings.Join(v.Leaders, ", "))
	var s string
	switch {
	case v.Outcome == advise.First && len(a.Ranked) == 1:
		s = fmt.Sprintf("%s is the only environment that can be ranked: it is held against no other.", names)
	case v.Outcome == advise.First:
		s = fmt.Sprintf("%s comes first, told apart from all others that could be ranked.", names)
	case v.Outcome == advise.Tie && v.Practical:
		s = fmt.Sprintf("Either will do: %s differ by less than %s, from which on it matters here.", names, sample.Percent(a.Profile.Matters))
	case v.Outcome == advise.Tie:
		s = fmt.Sprintf("Cannot tell which of %s comes first.", names)
	case v.Outcome == advise.Nobody:
		s = "No environment can be ranked."
	case len(v.Leaders) == 1:
		s = fmt.Sprintf("Cannot tell: by the measured properties, which carry %.0f %% of the weight, %s comes first.", 100*v.Measured, names)
	case len(v.Leaders) > 1:
		s = fmt.Sprintf("Cannot tell: by the measured properties, which carry %.0f %% of the weight, one of %s comes first.", 100*v.Measured, names)
	default:
		s = "Cannot tell: no criterion is measured of any environment that may be chosen."
	}
	out := []string{s}
	for _, w := range v.Why {
		out = append(out, words.Sentence(words.Upper(words.Clean(w))))
	}
	return out
}

// criterionName names a criterion for a sentence.
func criterionName(a *advise.Advice, i int) string {
	return words.Clean(cmp.Or(a.Criteria[i].Metric.Title, a.Criteria[i].Metric.ID)) + " of " + workloadName(a, i)
}

// workloadName is the workload without its parameters, unless there are others
// of it.
func workloadName(a *advise.Advice, i int) string {
	c := a.Criteria[i]
	for _, o := range a.Criteria {
		if o.Name == c.Name && o.Workload != c.Workload {
			return words.Clean(c.Workload)
		}
	}
	return words.Clean(c.Name)
}

// adviceCriteria says what counts, how much and why.
func adviceCriteria(a *advise.Advice) adviceList {
	l := adviceList{title: "What counts"}
	for _, c := range a.Criteria {
		share := "not measured"
		if c.Missing == "" {
			share = fmt.Sprintf("%.0f %%", 100*c.Share)
		}
		l.items = append(l.items, document.Item{Text: document.Say(fmt.Sprintf("%s of %s, %s, weight %.3g (%s). %s", words.Clean(cmp.Or(c.Metric.Title, c.Metric.ID)), words.Clean(c.Workload), words.Better(record.Metric{Better: c.Better}), c.Weight, share, words.Clean(c.Why)))})
	}
	for _, d := range a.Profile.Require {
		l.items = append(l.items, document.Item{Mark: "!", Text: document.Say("Required: " + words.Clean(strings.Join(d.Is, " or ")) + ". " + words.Sentence(words.Upper(words.Clean(d.Why))))})
	}
	return l
}

// adviceNames are the short names of all environments that an advice speaks of.
func adviceNames(a *advise.Advice) func(env string) string {
	envs := lists.Map(a.Ranked, func(r advise.Ranked) string { return r.Env })
	envs = append(envs, lists.Map(a.Apart, func(x advise.Apart) string { return x.Env })...)
	return shortNames(append(envs, lists.Map(a.Refused, func(x advise.Refused) string { return x.Env })...))
}

// adviceTable is the ranking.
func adviceTable(a *advise.Advice) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "", "score", "dominated by", "first\nplaces, %"), Parts: true}
	t.Columns[4].Right = true
	name := adviceNames(a)
	var scores, intervals []string
	for _, r := range a.Ranked {
		n := words.NumberOf(r.Score, 1, 3)
		scores, intervals = append(scores, n.Value), append(intervals, n.Interval)
	}
	scores = document.Align(scores)
	for i, r := range a.Ranked {
		first, by := "", ""
		if a.Sensitivity != nil {
			first = fmt.Sprintf("%.0f", 100*a.Sensitivity.First[i].Share)
		}
		if !r.Front {
			by = name(r.DominatedBy[0])
			if n := len(r.DominatedBy); n > 1 {
				by += fmt.Sprintf(" and %d more", n-1)
			}
		}
		t.Row(name(r.Env), r.Group, strings.TrimSpace(scores[i]+" "+intervals[i]), by, first)
	}
	at := 0
	for i, c := range a.Criteria {
		if c.Missing != "" {
			continue
		}
		values := lists.Map(a.Ranked, func(r advise.Ranked) float64 { return r.Measured[at].Median.Value })
		u := words.UnitFor(c.Metric.Unit, values)
		var column []string
		for _, r := range a.Ranked {
			column = append(column, words.NumberOf(r.Measured[at].Median, u.By, 3).Value+standMark[r.Measured[at].Stand])
		}
		title := words.Cut(workloadName(a, i), words.MaxName/2) + "\n" + words.Clean(cmp.Or(c.Metric.Title, c.Metric.ID)) + arrow(c.Better) + ", " + u.Name
		t.Column(document.Column{Title: title, Points: true}, document.Cells(column...))
		at++
	}
	return t
}

var standMark = map[advise.Stand]string{advise.For: " +", advise.Against: " −"}

// adviceLegend explains the ranking.
func adviceLegend(a *advise.Advice) string {
	ref := map[string]bool{}
	var refs []string
	for _, c := range a.Criteria {
		if c.Reference != "" && !ref[c.Reference] {
			ref[c.Reference] = true
			refs = append(refs, map[string]string{advise.MeanReference: "the mean of those ranked"}[c.Reference]+strings.TrimPrefix(c.Reference, advise.MeanReference))
		}
	}
	s := fmt.Sprintf("score: how many times worse than %s, the weighted geometric mean over the criteria; lower is better. Brackets: 95 %% intervals, from whole blocks. ", strings.Join(refs, " or "))
	s += fmt.Sprintf("Environments that share a letter cannot be told apart (paired t test within blocks, Holm over %s, 5 %%). ", words.Plural(len(a.Pairs), "pair"))
	s += fmt.Sprintf("dominated by: certainly no better in any criterion and worse in one, by more than %s; empty: on the Pareto front. ", sample.Percent(a.Profile.Matters))
	s += "+ among the best, − among the worst; of a property: fact, what the engine says of the environment; inside, what the payload saw (plimsoll report DIR --audit shows both); features, what was found by trying the engine."
	if a.Sensitivity != nil {
		s += " first places: over random weights around the given ones, by the estimates as they stand."
	}
	return s
}
