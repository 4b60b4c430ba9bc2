package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Changes are what differs between two runs, or two environments of one.
var Changes = kindOf("changes", changesDocument,
	format[*compare.Changes]{"csv", asCSV(changesCSV)},
	format[*compare.Changes]{"json", asJSON[*compare.Changes]},
	format[*compare.Changes]{"junit", changesJUnit},
	format[*compare.Changes]{"github", changesGitHub},
)

func changesDocument(d *document.Document, c *compare.Changes, _ Options) {
	base, next := sideText(c.Base), sideText(c.New)
	if d.Medium == document.Markdown { // a code forge shows the beginning, a terminal the end
		d.Heading(1, "What changed")
		d.List("", document.Items([]string{"BASE: " + base, "NEW: " + next}))
		sayGate(d, c)
	} else {
		d.Led("BASE  ", base, document.Head)
		d.Led("NEW   ", next, document.Head)
	}
	if c.Grouping != nil {
		d.Gap(document.Text)
		d.Add(groupTable(c))
	} else {
		addChangeTables(d, c, c.Cells, c.Gate != nil)
	}
	addChangeTables(d, c, c.Quantiles, false)
	d.Gap(document.Text)
	d.Legend(changesLegend(c)...)
	if lines := movedLines(c); len(lines) > 0 {
		d.Heading(2, "Where it comes from")
		d.List("   ", document.Items(lines))
		d.Legend(movedLegend)
	}
	if lines := failureLines(c); len(lines) > 0 {
		d.Heading(2, "Failures")
		d.List("   ", document.Items(lines))
	}
	d.Heading(2, "What else differs")
	d.List("   ", document.Items(factLines(c.Facts)))
	addPlainRemarks(d, c.Remarks)
	switch {
	case d.Medium == document.Text:
		sayGate(d, c)
	case len(c.Remarks) == 0:
		d.Gap(document.Markdown)
	}
}

// sayGate is the gate's answer with its reasons.
func sayGate(d *document.Document, c *compare.Changes) {
	if c.Gate == nil {
		return
	}
	reasons := document.Items(gateReasons(c))
	could := document.Items(nil)
	if found := gate.Words(gate.CouldFind(c)); found != "" {
		could = document.Items([]string{"In nine of ten runs such a gate finds a worsening of " + words.Clean(found) + "."})
	}
	if d.Medium == document.Markdown {
		d.Add(document.Para{Text: document.Line{{Text: gateLine(c.Gate), Style: document.Strong}}})
		d.List("", append(reasons, could...))
		return
	}
	for i := range reasons {
		reasons[i].Tone = document.Warn
	}
	d.Gap(document.Text)
	d.List("   ", append(reasons, could...))
	d.Led("", gateLine(c.Gate), document.Head)
}

// gateReasons say why a gate did not pass, and where trials failed that it let
// pass.
func gateReasons(c *compare.Changes) []string {
	var out []string
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Gate != nil && ch.Gate.State != compare.Passed {
			s := words.Clean(ch.Gate.Reason)
			if by := gateEvidence(c.Gate, ch.Gate); by != "" {
				s += " (" + by + ")"
			}
			if why := mostOf(c, ch); why != "" {
				s += "; " + why
			}
			out = append(out, fmt.Sprintf("%s: %s of %s in %s: %s", ch.Gate.State, words.Clean(ch.Metric.ID), words.Clean(c.Work(ch.Workload)), words.Clean(ch.Name()), words.Sentence(s)))
		}
	}
	for i, l := range failureLines(c) {
		if g := c.Failures[i].Gate; g != nil && g.Reason != "" {
			out = append(out, fmt.Sprintf("%s: %s.", g.State, l))
		}
	}
	return out
}

// addChangeTables makes a table of each metric, in the order of the cells.
func addChangeTables(d *document.Document, c *compare.Changes, all []compare.Change, gate bool) {
	type key struct{ work, metric string }
	var tables analyze.Grouped[key, *compare.Change]
	for i := range all {
		tables.Add(key{all[i].Workload, all[i].Metric.ID}, &all[i])
	}
	for k, cells := range tables.All() {
		m, what := cells[0].Metric, ""
		if q := cells[0].Quantile; q > 0 {
			what = ", " + compare.QuantileName(q)
		}
		d.Heading(2, words.Clean(c.Work(k.work))+": "+words.Clean(cmp.Or(m.Title, m.ID))+what+"; "+words.Better(m))
		d.Gap(document.Text)
		d.Add(fitted(d, changeTable(cells, gate)))
	}
}

// fitted is a table of changes of which, where the page is narrower, the
// intervals of the medians give way, and then the medians; what is too long then goes on
// in another line.
func fitted(d *document.Document, t *document.Table) *document.Table {
	const base, next = 1, 2
	if d.Medium == document.Text && t.Width() > d.Width {
		t.DropTails(base)
		t.DropTails(next)
	}
	if d.Medium == document.Text && t.Width() > d.Width {
		t.Drop(base, next+1)
	}
	if d.Medium == document.Text && t.Width() > d.Width {
		t.LastWraps(d.Width)
	}
	return t
}

func changeTable(cells []*compare.Change, gate bool) *document.Table {
	var values []float64
	for _, ch := range cells {
		for _, e := range []*sample.Estimate{ch.Base, ch.New} {
			if e != nil {
				values = append(values, e.Value)
			}
		}
	}
	u := words.UnitFor(cells[0].Metric.Unit, values)
	t := &document.Table{Columns: document.Columns("environment")}
	names := words.Rows(lists.Map(cells, (*compare.Change).Name))
	for i, ch := range cells {
		t.Row(names[i])
		if ch.Verdict == compare.Worse || ch.Lost {
			t.Rows[len(t.Rows)-1].Tone = document.Warn
		}
	}
	number := func(title string, get func(*compare.Change) *sample.Estimate, by float64, times string) {
		out := make([]document.Cell, len(cells))
		for i, ch := range cells {
			if e := get(ch); e != nil {
				n := words.NumberOf(*e, by, 3)
				out[i] = document.Cell{Text: n.Value, Tail: strings.TrimSpace(times + n.Interval)}
			}
		}
		t.Column(document.Column{Title: title, Points: true}, out)
	}
	text := func(title string, of func(*compare.Change) string) {
		t.Column(document.Column{Title: title}, document.Cells(lists.Map(cells, of)...))
	}
	number(strings.TrimSpace("BASE, "+u.Name), func(ch *compare.Change) *sample.Estimate { return ch.Base }, u.By, "")
	number(strings.TrimSpace("NEW, "+u.Name), func(ch *compare.Change) *sample.Estimate { return ch.New }, u.By, "")
	number("NEW / BASE", func(ch *compare.Change) *sample.Estimate { return ch.Ratio }, 1, "× ")
	if gate {
		text("gate", gateText)
	}
	text("verdict", func(ch *compare.Change) string { // may be long: last
		if ch.Lost && ch.Missing == compare.NoEnvironment(cmp.Or(ch.NewEnv, ch.Env)) {
			return "lost: not in NEW" // which environment says the row
		}
		return verdictText(ch)
	})
	return t
}

// verdictText says in words what a cell came to.
func verdictText(ch *compare.Change) string {
	switch {
	case ch.Lost:
		return "lost: " + words.Clean(ch.Missing)
	case ch.Base == nil:
		return "new: " + words.Clean(ch.Missing)
	case ch.Missing != "":
		return "n/a: " + words.Clean(ch.Missing)
	case ch.Ratio != nil && ch.Ratio.Lo == nil && ch.Method != "identical":
		return "cannot tell: too few blocks"
	case ch.Verdict == compare.Unclear && ch.BlocksNeeded > 0:
		return fmt.Sprintf("cannot tell (%d blocks?)", ch.BlocksNeeded)
	case ch.Verdict == compare.Unclear && ch.State != nil:
		return "cannot tell: another state"
	case ch.Verdict == compare.Unclear:
		return "cannot tell"
	}
	s := string(ch.Verdict)
	if ch.Method == "t" || ch.Method == "welch" {
		s += ", preliminary"
	}
	return s
}

func gateText(ch *compare.Change) string {
	if ch.Gate == nil {
		return ""
	}
	return fmt.Sprintf("%s (%s)", ch.Gate.State, sample.Percent(ch.Gate.Threshold))
}

// groupTable is the table of rows and columns.
func groupTable(c *compare.Changes) *document.Table {
	t := &document.Table{Columns: document.Columns(strings.Join(c.Grouping.Row, ", ")), Parts: true}
	for _, k := range c.Grouping.Cols {
		t.Columns = append(t.Columns, document.Column{Title: cmp.Or(words.Clean(strings.Join(k, ", ")), "NEW / BASE")})
	}
	for i, places := range c.Grouping.Places {
		cells := []string{cmp.Or(words.Clean(strings.Join(c.Grouping.Rows[i], ", ")), "all")}
		for _, p := range places {
			cells = append(cells, placeText(c, p))
		}
		t.Row(cells...)
	}
	return t
}

func placeText(c *compare.Changes, p compare.Place) string {
	switch {
	case len(p.Cells) == 0:
		return "·"
	case len(p.Cells) > 1:
		return fmt.Sprintf("%d cells, by %s", len(p.Cells), strings.Join(p.Hidden, ", "))
	}
	ch := &c.Cells[p.Cells[0]]
	if ch.Ratio == nil {
		return "n/a"
	}
	n := words.NumberOf(*ch.Ratio, 1, 3)
	return strings.TrimSpace(n.Value+" × "+n.Interval) + " " + verdictText(ch)
}

// changesLegend explains the table.
func changesLegend(c *compare.Changes) []string {
	how := "NEW / BASE is from pairs of the same block."
	switch {
	case c.Interleaved:
	case slices.ContainsFunc(c.Cells, func(ch compare.Change) bool { return ch.Control != nil && ch.Control.Others != nil }):
		how = "NEW / BASE is from the block medians of both, less what other engines of the same block did: it need not be the quotient of the medians."
	case slices.ContainsFunc(c.Cells, func(ch compare.Change) bool { return ch.Control != nil }):
		how = "NEW / BASE is from the block medians of both, less what the baselines of the same block carry: it need not be the quotient of the medians."
	case slices.ContainsFunc(c.Cells, func(ch compare.Change) bool { return ch.Against != "" }):
		how = "NEW / BASE is from the block medians of both, each divided by a baseline of its own block where there is one: it need not be the quotient of the medians."
	default:
		how = "NEW / BASE is from the block medians of both, as they are, by the median of all their ratios: it need not be the quotient of the medians."
	}
	out := []string{
		how + fmt.Sprintf(" Brackets: 95 %% intervals. Better and worse: beyond %s, and with p below 5 %% (%s, Holm over the table); equal: within; (n blocks?): that many might tell.", sample.Percent(c.Delta), c.Test),
	}
	if len(c.Quantiles) > 0 {
		out = append(out, fmt.Sprintf("%s: by order statistics of all values; better and worse by the interval at a level corrected for %s (Bonferroni). No gate uses it.", compare.QuantileName(c.Quantiles[0].Quantile), words.Plural(len(c.Quantiles), "cell")))
	}
	if g := c.Gate; g != nil {
		out = append(out, fmt.Sprintf("The gate fails where the whole interval is worse by more than the threshold, with p below %s (%s, one-sided, Holm over its own %s), where NEW has lost a value, or where trials fail more often.", sample.Percent((1-g.Level)/2), g.Test, words.Plural(g.Tested, "cell")))
		out = append(out, fmt.Sprintf("Gate and verdict are two questions: the verdict asks whether there is any difference, corrected over %s, the gate whether it is beyond the threshold, corrected over %d. So a cell can fail with \"cannot tell\", and pass with \"worse\".", words.Plural(c.Tested, "cell"), g.Tested))
	}
	return out
}

// gateEvidence is the interval and the p by which the gate judged a cell; ""
// where it judged by neither.
func gateEvidence(g *compare.Gate, cell *compare.CellGate) string {
	if cell.Ratio == nil {
		return ""
	}
	n := words.NumberOf(*cell.Ratio, 1, 3)
	s := fmt.Sprintf("%s × %s at %.4g %%", n.Value, n.Interval, 100*g.Level)
	if cell.Holm != nil {
		p := sample.Percent(*cell.Holm)
		if *cell.Holm < 1e-5 {
			p = "< 0.001 %"
		}
		s += fmt.Sprintf(", p %s over %s", p, words.Plural(g.Tested, "cell"))
	}
	return s
}

// sideText names one of the two.
func sideText(s compare.Side) string {
	t := "run " + words.Clean(s.Run) + " of " + words.Clean(s.Study)
	if s.Env != "" {
		t = words.Clean(s.Env) + " in " + t
	}
	if !s.Started.IsZero() {
		t += ", " + s.Started.UTC().Format("2006-01-02 15:04")
	}
	t += ", plimsoll " + words.Clean(s.Tool) + ", " + words.Clean(s.Machine)
	if s.Tuned { // not the machine that users have
		t += ", tuned"
	}
	return t
}

// factLines say what differs, the same difference of several environments once.
func factLines(facts []compare.Fact) []string {
	if len(facts) == 0 {
		return []string{"Machine, tool, protocol and configuration are the same, as far as is known."}
	}
	name := shortNames(lists.Map(facts, func(f compare.Fact) string { return f.Env }))
	var envs analyze.Grouped[string, string]
	for _, f := range facts {
		s := fmt.Sprintf("%s, %s: %s → %s", f.Where, words.Clean(f.Key), cmp.Or(words.Clean(f.Base), "–"), cmp.Or(words.Clean(f.New), "–"))
		envs.Add(s)
		if f.Env != "" {
			envs.Add(s, name(f.Env))
		}
	}
	var out []string
	for s, of := range envs.All() {
		if len(of) > 0 {
			s += " (" + strings.Join(of, ", ") + ")"
		}
		out = append(out, s)
	}
	return out
}

func failureLines(c *compare.Changes) []string {
	var out []string
	for _, f := range c.Failures {
		s := fmt.Sprintf("%s of %s: %d of %d failed in BASE, %d of %d in NEW", words.Clean(f.Env), words.Clean(c.Work(f.Workload)), f.BaseFailed, f.BaseTrials, f.NewFailed, f.NewTrials)
		switch {
		case f.Gate != nil && f.Gate.Reason != "":
			s += ": " + f.Gate.Reason
		case f.Worse:
			s += ": more often"
		}
		out = append(out, s)
	}
	return out
}

// gateLine is the gate's answer in a sentence.
func gateLine(g *compare.Gate) string {
	s := fmt.Sprintf("gate: %s (%s", g.State, words.Plural(g.Gated, "cell"))
	if g.Failed > 0 {
		s += fmt.Sprintf(", %d failed", g.Failed)
	}
	if g.Inconclusive > 0 {
		s += fmt.Sprintf(", %d inconclusive", g.Inconclusive)
	}
	if g.Looks > 1 {
		each := ""
		if alike := 1 - sample.Alpha/float64(g.Looks); math.Abs(g.Level-alike) < 1e-9 {
			each = "each "
		}
		s += fmt.Sprintf("; by look %d of %d, %sat %.4g %%", g.Look, g.Looks, each, 100*g.Level)
	}
	if g.Incomplete {
		s += "; a run is incomplete, see the remarks"
	}
	return s + ")"
}

func remarkText(m record.Remark) string {
	return words.Clean(m.Code) + ". " + words.Sentence(words.Prose(m.Text)) // which may name several environments
}
