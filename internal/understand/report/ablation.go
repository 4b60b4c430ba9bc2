package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// Ablations are what each mechanism of an engine costs.
var Ablations = kindOf("an ablation", ablationsDocument,
	jsonOf(func(res *analyze.Result) []*ablation.Waterfall { return res.Ablations }),
)

func ablationsDocument(d *document.Document, res *analyze.Result, _ Options) {
	for _, x := range res.Ablations {
		addAblation(d, res, x, 1)
	}
	origin(d, res)
}

// addAblations are the section of a whole report.
func addAblations(d *document.Document, res *analyze.Result) {
	for _, x := range res.Ablations {
		addAblation(d, res, x, 2)
	}
}

func addAblation(d *document.Document, res *analyze.Result, x *ablation.Waterfall, level int) {
	a := wordsOf(x)
	title := x.Workload
	if w := res.Workload(x.Workload); w != nil {
		title = cmp.Or(w.Title, w.ID)
	}
	asks := "What %s is made of: %s, %s"
	if x.Running() && len(x.Parts) == 0 {
		asks = "What %s costs: %s, %s"
	}
	d.Heading(level, fmt.Sprintf(asks, words.Clean(x.Engine), words.Clean(title), strings.ToLower(words.Clean(cmp.Or(x.Metric.Title, x.Metric.ID)))))
	d.Para(a.summary())
	d.Add(a.table(d))
	for _, s := range x.Steps {
		if s.Given != "" {
			d.Legend(fmt.Sprintf("* %s can't be taken away alone: its cost is that without %s.", words.Clean(s.Mechanism), words.Clean(s.Given)))
		}
	}
	left := "left"
	if x.Rate() {
		left = "reached"
	}
	d.Legend(fmt.Sprintf("One after the other: what each costs when all above it are gone already, and what is then %s. Alone: while all else is there. Brackets: 95 %% intervals, from differences inside blocks (%d).%s", left, x.Blocks, a.nothing()))
	if len(x.Parts) > 0 {
		d.Heading(level+1, "Part by part")
		t := a.parts()
		for column := len(t.Columns) - 1; column > 0 && d.Medium == document.Text && t.Width() > d.Width; column-- {
			t.DropTails(column)
		}
		d.Add(t)
		d.Legend("The parts are the processes of the container, of the engine for this container alone, and of the engine for all, each as its share of the memory that several have (PSS), and the kernel's own memory. Machine: what is no longer available, and no longer free, on the whole machine; between the two lies mostly the page cache, which is given back when memory is short.")
	}
	if s := a.changes(); len(s) > 0 {
		d.Heading(level+1, "What can be saved, and its price")
		d.List(" ", document.Items(s))
	}
	if t := a.added(); len(t.Rows) > 0 {
		d.Heading(level+1, "What can be added")
		d.Add(t)
	}
	a.addObserved(d, level+1)
	if s := a.together(); len(s) > 0 {
		d.Heading(level+1, "What belongs together")
		d.List(" ", document.Items(s))
	}
	if t := a.heldOut(); len(t.Rows) > 0 {
		d.Heading(level+1, "What was predicted")
		if d.Medium == document.Text && t.Width() > d.Width {
			namesLast(t, d.Width)
		}
		d.Add(t)
		several := "Several taken away at once"
		if len(x.Added) > 0 {
			several += ", or added (+)"
		}
		of, sum := "what was measured", "the sum of what each costs alone"
		if a.x.Running() {
			of = "what all of it costs, or of what they change, where that is more"
		}
		if x.Rate() {
			sum += " (as the time of one)"
		}
		d.Legend(several + fmt.Sprintf(", against %s. + the prediction is within %.0f %% of %s, or the interval of the difference holds 0.", sum, 100*ablation.Near, of))
	}
}

// WaterfallTable is the table of one waterfall, for a page.
func WaterfallTable(x *ablation.Waterfall) *document.Table {
	return wordsOf(x).table(&document.Document{Medium: document.Markdown})
}

// ablationWords are what is said of a waterfall.
type ablationWords struct {
	x    *ablation.Waterfall
	unit words.Unit
}

func wordsOf(x *ablation.Waterfall) ablationWords {
	return ablationWords{x: x, unit: words.UnitFor(x.Metric.Unit, []float64{x.Base.Median.Value})}
}

// less says of what is saved that it is less, or of a rate that it is more.
func (a ablationWords) less() string {
	if a.x.Rate() {
		return "more"
	}
	return "less"
}

func (a ablationWords) number(e *sample.Estimate) document.Cell {
	return numberCell(e, a.unit.By, 2)
}

func (a ablationWords) amount(v float64) string { return words.Amount(v, a.x.Metric.Unit) }

// nothing says what the first row's number is.
func (a ablationWords) nothing() string {
	if a.x.Nothing == nil {
		return ""
	}
	return " Alone in the first row is the difference of two environments that are the same: what chance makes of nothing."
}

func (a ablationWords) summary() string {
	x := a.x
	s := fmt.Sprintf("%s with everything (%s), %s at the end (%s).", a.amount(x.Base.Median.Value), words.Clean(x.Base.Env), a.amount(x.Floor.Median.Value), words.Clean(x.Floor.Env))
	switch {
	case len(x.Parts) > 0:
		s += a.ofParts()
	case x.Running():
		s += a.overhead()
	}
	most := lists.Map(x.Largest(), func(st ablation.Step) string {
		return words.Clean(x.Name(st)) + " " + a.share(st.Share)
	})
	whole := "it"
	if len(x.Parts) > 0 {
		whole = "what can be taken away"
	}
	if len(most) > 0 {
		s += " Most of " + whole + ": " + strings.Join(most, "; ") + "." // a name may have a comma
	}
	if x.Whole != nil && (!x.Running() || surely(x.Whole)) && x.Rest != 0 && math.Abs(x.Rest) >= 0.02*math.Abs(x.Whole.Value) {
		s += fmt.Sprintf(" The steps add up to %s, the difference of the two ends is %s.", a.amount(x.Whole.Value-x.Rest), a.amount(x.Whole.Value))
	}
	return s
}

// overhead says what all of it costs a running workload, and whether that can be told
// from nothing.
func (a ablationWords) overhead() string {
	w := a.x.Whole
	if w == nil {
		return ""
	}
	s := fmt.Sprintf(" All of it costs %s", a.amount(w.Value))
	if w.Lo == nil {
		return s + " (too few blocks for an interval)."
	}
	top := a.x.Top()
	s += fmt.Sprintf(" (%s; 95 %% interval %s to %s)", a.share(w.Value/top), a.share(*w.Lo/top), a.share(*w.Hi/top))
	if !surely(w) {
		s += ", which is not measurable"
	}
	return s + "."
}

// surely says that a cost can be told from nothing.
func surely(e *sample.Estimate) bool {
	return e != nil && e.Lo != nil && (*e.Lo > 0 || *e.Hi < 0)
}

// share is a part of the whole, in per cent: of a running workload's with a decimal,
// since most of them are small.
func (a ablationWords) share(v float64) string {
	if a.x.Running() && v > -0.1 && v < 0.1 {
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.0f %%", 100*v)
}

const barWidth = 20

func (a ablationWords) table(d *document.Document) *document.Table {
	left := "left, "
	if a.x.Rate() {
		left = "reached, "
	}
	t := &document.Table{Parts: true, Columns: []document.Column{{Title: "taken away"}, {Title: "one after\nthe other, " + a.unit.Name, Points: true}, {Title: "of all", Right: true},
		{Title: left + a.unit.Name, Points: true}, {Title: "alone, " + a.unit.Name, Points: true}}}
	bars := map[int]string{}
	row := func(name string, cost *sample.Estimate, share string, before float64, left, alone *sample.Estimate, missing string) {
		r := document.Row{Cells: []document.Cell{{Text: name}, a.number(cost), {Text: share}, {}, a.number(alone)}}
		if left != nil {
			r.Cells[3].Text = words.NumberOf(sample.Estimate{Value: left.Value}, a.unit.By, 2).Value
		}
		if missing != "" {
			r = document.Row{Tone: document.Dim, Cells: []document.Cell{{Text: name}, {Text: "n/a: " + words.Clean(missing), Rest: true}}}
		} else {
			bars[len(t.Rows)] = a.bar(d, left, before)
		}
		t.Rows = append(t.Rows, r)
	}
	row("nothing", nil, "", a.x.Base.Median.Value, a.x.Base.Median, a.x.Nothing, "")
	for _, s := range a.x.Steps {
		name := words.Clean(a.x.Name(s))
		if s.Given != "" {
			name += " *"
		}
		if len(s.Includes) > 0 {
			name += ", with " + words.Clean(words.List(s.Includes))
		}
		share := ""
		if surely(s.Chain) {
			share = a.share(s.Share)
		}
		var left *sample.Estimate
		before := 0.0
		if s.After != nil {
			left, before = s.After.Median, a.x.Before(&s)
		}
		row(name, s.Chain, share, before, left, s.Alone, s.Missing)
	}
	if d.Medium == document.Text && t.Width()+document.Between+barWidth <= d.Width {
		t.Columns = append(t.Columns, document.Column{})
		for i, bar := range bars {
			t.Rows[i].Cells = append(t.Rows[i].Cells, document.Cell{Text: bar})
		}
	}
	for _, column := range []int{4, 1} {
		if d.Medium == document.Text && t.Width() > d.Width {
			t.DropTails(column)
		}
	}
	return t
}

// bar is what is left, and behind it what was taken away; of a rate what there was,
// and behind it what was gained.
func (a ablationWords) bar(d *document.Document, left *sample.Estimate, before float64) string {
	if left == nil {
		return ""
	}
	full, gone := "█", "░"
	if d.ASCII {
		full, gone = "#", "."
	}
	cells := func(v float64) int { return min(barWidth, max(0, int(v/a.x.Top()*barWidth+0.5))) }
	from, to := left.Value, before
	if a.x.Rate() {
		from, to = to, from
	}
	n := cells(from)
	return strings.Repeat(full, n) + strings.Repeat(gone, max(0, cells(to)-n))
}

// changes are what a user can do without, the most that it saves first.
func (a ablationWords) changes() []string {
	var out []string
	for _, s := range a.x.Savings() {
		line := fmt.Sprintf("without %s (%s): %s of %s %s; %s.", words.Clean(s.Mechanism), words.Clean(s.Title), a.amount(s.Alone.Value), a.amount(a.x.Base.Median.Value), a.less(), words.Clean(s.Price))
		if s.Given != "" {
			line = strings.TrimSuffix(line, ".") + fmt.Sprintf(" (with %s gone already).", words.Clean(s.Given))
		}
		out = append(out, line)
	}
	return out
}

// added are what the engine can also do, in the order in which it tells them.
func (a ablationWords) added() *document.Table {
	t := &document.Table{Columns: []document.Column{{Title: "added"}, {Title: "costs, " + a.unit.Name, Points: true}, {Title: "what it is"}}}
	for _, s := range a.x.Added {
		if s.Missing != "" || s.Alone == nil {
			t.Rows = append(t.Rows, document.Row{Tone: document.Dim, Cells: []document.Cell{{Text: words.Clean(s.Mechanism)}, {Text: "n/a: " + words.Clean(s.Missing), Rest: true}}})
			continue
		}
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Text: words.Clean(s.Mechanism)}, a.number(s.Alone), {Text: words.Clean(s.Title) + ": " + words.Clean(s.Price), Rest: true}}})
	}
	return t
}

// named marks what is added among what is taken away.
func (a ablationWords) named(mechanisms []string) string {
	var out []string
	for _, n := range mechanisms {
		if slices.ContainsFunc(a.x.Added, func(s ablation.Step) bool { return s.Mechanism == n }) {
			n = "+" + n
		}
		out = append(out, words.Clean(n))
	}
	return strings.Join(out, ", ")
}

func (a ablationWords) together() []string {
	var out []string
	for _, s := range a.x.Steps {
		if s.Together == nil {
			continue
		}
		how := "more"
		if s.Together.Value < 0 {
			how = "less"
		}
		out = append(out, fmt.Sprintf("%s costs %s %s once all above it is gone than alone.", words.Clean(s.Mechanism), a.amount(max(s.Together.Value, -s.Together.Value)), how))
	}
	return out
}

func (a ablationWords) heldOut() *document.Table {
	t := &document.Table{Columns: []document.Column{{}, {Title: "taken away at once"}, {Title: "predicted, " + a.unit.Name, Points: true}, {Title: "measured, " + a.unit.Name, Points: true}, {Title: "difference, " + a.unit.Name, Points: true}}}
	for _, h := range a.x.HeldOut {
		names := a.named(h.Mechanisms)
		if h.Missing != "" {
			t.Rows = append(t.Rows, document.Row{Tone: document.Dim, Cells: []document.Cell{{}, {Text: names}, {Text: "n/a: " + words.Clean(h.Missing), Rest: true}}})
			continue
		}
		mark := "+"
		if !h.Fits {
			mark = "−"
		}
		predicted := sample.Estimate{Value: h.Measured.Value - h.Off.Value}
		t.Rows = append(t.Rows, document.Row{Cells: []document.Cell{{Text: mark}, {Text: names}, a.number(&predicted), a.number(&sample.Estimate{Value: h.Measured.Value}), a.number(h.Off)}})
	}
	return t
}

// namesLast puts what was taken away at once behind the numbers, where it can go on in
// another line.
func namesLast(t *document.Table, width int) {
	const names = 1
	t.Columns = append(slices.Delete(slices.Clone(t.Columns), names, names+1), t.Columns[names])
	for i := range t.Rows {
		r := &t.Rows[i]
		name := r.Cells[names]
		if last := &r.Cells[len(r.Cells)-1]; last.Rest { // nothing was measured
			last.Text = name.Text + ": " + last.Text
			name.Text = ""
		}
		r.Cells = slices.Delete(r.Cells, names, names+1)
		if name.Text != "" {
			r.Cells = append(r.Cells, name)
		}
	}
	t.Columns[len(t.Columns)-1].Title = "taken away\nat once"
	t.LastWraps(width)
}
