package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// ranking is one metric of one workload, sorted, ready to be laid out.
type ranking struct {
	work  *analyze.Workload
	table *analyze.Table
	order []string // environments: ranked ones first, then those without a value
	unit  words.Unit
	notes map[string][]int // numbers of the remarks, by environment
}

func newRanking(work *analyze.Workload, table *analyze.Table, opts Options) *ranking {
	r := &ranking{work: work, table: table}
	by := table
	switch sort := cmp.Or(opts.Sort, work.Sort); sort {
	case "":
	case planOrder:
		by = nil
	default:
		if t := work.Table(sort); t != nil {
			by = t
		}
	}
	if by != nil {
		r.order = slices.Clone(by.Ranking)
	}
	for _, c := range table.Cells {
		if !slices.Contains(r.order, c.Env) && c.Missing != analyze.NotAsked {
			r.order = append(r.order, c.Env)
		}
	}
	r.unit = words.UnitFor(table.Metric.Unit, medians(table))
	return r
}

func medians(t *analyze.Table) []float64 {
	var v []float64
	for _, c := range t.Cells {
		if c.Median != nil {
			v = append(v, c.Median.Value)
		}
	}
	return v
}

func (r *ranking) cells() []*analyze.Cell {
	return lists.Map(r.order, r.table.Cell)
}

// layout says what of a ranking is shown; a narrow page shows less.
type layout struct {
	median, native, floor, host detail
	names                       int  // characters for names; 0: as many as a table has room for
	whole                       bool // names are never cut
	notes                       bool
	picture                     bool // only where the picture has room beside it
}

// detail is how much of an estimate is shown.
type detail int

const (
	nothing detail = iota
	value
	interval
)

// ratioDetail is how much is shown of the ratio to a baseline.
type ratioDetail struct {
	name string
	d    detail
}

// baselines are how much is shown of the ratio to each.
func (l layout) baselines() []ratioDetail {
	return []ratioDetail{{"native", l.native}, {"floor", l.floor}, {"host", l.host}}
}

// fullLayout is that of a page without end.
var fullLayout = layout{median: interval, native: interval, floor: interval, notes: true}

// layouts from the widest to the narrowest. What is never dropped is the
// name, n, the failures and the median.
var layouts = []layout{
	{median: interval, native: interval, floor: interval, host: interval, whole: true, notes: true, picture: true},
	{median: interval, native: interval, floor: interval, host: interval, notes: true, picture: true},
	fullLayout,
	{median: interval, native: interval, floor: value, notes: true},
	{median: interval, native: interval, notes: true},
	{median: interval, native: value, floor: value, notes: true},
	{median: interval, native: value, notes: true},
	{median: interval, notes: true},
	{median: interval, names: 20},
	{median: value, names: 20},
	{median: value, names: 10},
}

// layOut makes the table of the ranking.
func (r *ranking) layOut(l layout) *document.Table {
	t := r.base(l)
	title := r.table.Metric.Title
	if r.unit.Name != "" {
		title += ", " + r.unit.Name
	}
	r.estimates(t, title, l.median, func(c *analyze.Cell) (words.Number, string) {
		if c.Median == nil {
			return words.Number{}, ""
		}
		return words.NumberOf(*c.Median, r.unit.By, words.Full), ""
	})
	for _, b := range l.baselines() {
		if b.d == nothing || !r.has(b.name) {
			continue
		}
		r.estimates(t, "× "+b.name, b.d, func(c *analyze.Cell) (words.Number, string) {
			return ratioNumber(c.Ratio(b.name), b.d)
		})
	}
	if l.notes && len(r.notes) > 0 {
		see := lists.Map(r.order, func(e string) string { return noteNumbers(r.notes[e]) })
		t.Column(document.Column{Title: "see"}, document.Cells(see...))
	}
	for i, c := range r.cells() {
		if c.Median != nil {
			continue
		}
		t.Rows[i].Tone = document.Dim
		if why := r.missing(c); why != "" {
			t.Rows[i].Cells = append(t.Rows[i].Cells[:4], document.Cell{Text: why, Rest: true})
		}
	}
	return t
}

// leftOut says what a narrow page has no room for; "" nothing.
func (r *ranking) leftOut(l layout) string {
	var lost []string
	if l.native == nothing && (r.has("native") || r.has("floor") || r.has("host")) {
		lost = append(lost, "the ratios, which stand below")
	}
	if !l.notes && len(r.notes) > 0 {
		lost = append(lost, "the numbers of the remarks")
	}
	if l.median < interval {
		lost = append(lost, "the intervals of the medians")
	}
	if l.names > 0 && slices.ContainsFunc(r.order, func(e string) bool { return words.Width(words.Clean(e)) > l.names }) {
		lost = append(lost, "the middle of long names")
	}
	if len(lost) == 0 {
		return ""
	}
	return "Left out in so narrow a terminal: " + strings.Join(lost, ", ") + "."
}

// missing is the reason with the remark's number.
func (r *ranking) missing(c *analyze.Cell) string {
	s := words.Clean(c.Missing)
	if n := noteNumbers(r.notes[c.Env]); n != "" {
		s += " (see " + n + ")"
	}
	return s
}

// base is the table of what no layout leaves out: group, name, n and failures.
func (r *ranking) base(l layout) *document.Table {
	t := &document.Table{Columns: document.Columns("", "environment", "n", "failed")}
	t.Columns[2].Right, t.Columns[3].Right = true, true
	if l.names > 0 && l.names < words.Width(t.Columns[1].Title) {
		t.Columns[1].Title = "env"
	}
	envs := lists.Map(r.cells(), func(c *analyze.Cell) string { return c.Env })
	names := words.RowsOf(envs, cmp.Or(l.names, words.MaxName))
	if l.names == 0 && l.whole {
		names = lists.Map(envs, words.Clean)
	}
	for i, c := range r.cells() {
		n := r.work.Count(c.Env)
		cells := document.Cells(words.Letters(c.Group), names[i], strconv.Itoa(c.N), strconv.Itoa(n.Failed))
		if n.Failed > 0 {
			cells[3].Tone = document.Warn
		}
		t.Rows = append(t.Rows, document.Row{Cells: cells})
	}
	return t
}

// estimates adds a column of numbers.
func (r *ranking) estimates(t *document.Table, title string, d detail, of func(*analyze.Cell) (words.Number, string)) {
	var cells []document.Cell
	for _, c := range r.cells() {
		n, mark := of(c)
		if d != interval {
			n.Interval = ""
		}
		cells = append(cells, document.Cell{Text: n.Value, Tail: strings.TrimSpace(n.Interval + " " + mark)})
	}
	t.Column(document.Column{Title: title, Points: true}, cells)
}

// tooFew stands where a ratio would have its interval.
const tooFew = "× (too few)"

// ratioNumber formats a ratio, and marks it where the two do not differ.
func ratioNumber(q *analyze.Ratio, d detail) (words.Number, string) {
	switch {
	case q == nil:
		return words.Number{}, ""
	case q.Missing != "":
		return words.Number{Value: "n/a"}, ""
	case q.Method == "itself":
		return words.Number{Value: "1"}, ""
	}
	most := 2
	if q.Value < 0.1 {
		most = 6
	}
	n := words.NumberOf(q.Estimate, 1, most)
	if d == interval {
		switch {
		case q.Lo == nil && q.Preliminary():
			n.Interval = tooFew
		default:
			n.Interval = strings.TrimSpace("× " + n.Interval)
		}
	}
	switch q.Verdict {
	case analyze.Equal:
		return n, "="
	case analyze.CannotTell:
		return n, "~"
	}
	return n, ""
}

func (r *ranking) has(baseline string) bool {
	return slices.ContainsFunc(r.table.Cells, func(c analyze.Cell) bool { return c.Ratio(baseline) != nil })
}

// legend explains the marks that were used.
func (r *ranking) legend(delta float64) []string {
	var out []string
	if len(r.table.Pairs) > 0 {
		out = append(out, fmt.Sprintf("Brackets: 95 %% intervals. Environments that share a letter cannot be told apart (paired %s test within blocks, Holm over %d pairs, 5 %%).",
			r.table.Test, len(r.table.Pairs)))
		if slices.ContainsFunc(r.table.Cells, func(c analyze.Cell) bool { return words.Letters(c.Group) != c.Group }) {
			out = append(out, "b-e are the letters b, c, d and e.")
		}
	}
	equal, unsure, hopeless, needed, preliminary := false, false, false, 0, false
	others := map[string]map[string]bool{}
	for i := range r.table.Cells {
		for _, q := range r.table.Cells[i].Ratios {
			equal = equal || q.Verdict == analyze.Equal && q.Method != "itself"
			unsure = unsure || q.Verdict == analyze.CannotTell
			hopeless = hopeless || q.Verdict == analyze.CannotTell && q.BlocksNeeded == 0
			needed = max(needed, q.BlocksNeeded)
			preliminary = preliminary || q.Preliminary()
			if others[q.Baseline] == nil {
				others[q.Baseline] = map[string]bool{}
			}
			others[q.Baseline][q.Env] = true
		}
	}
	if equal {
		out = append(out, fmt.Sprintf("= equal for practical purposes (within %.3g %%).", 100*delta))
	}
	if unsure {
		s := fmt.Sprintf("~ cannot tell yet whether it differs by more than %.3g %%", 100*delta)
		if needed > 0 && !hopeless {
			s += fmt.Sprintf(" (about %d blocks would decide all)", needed)
		}
		out = append(out, s+".")
	}
	if preliminary {
		out = append(out, "Fewer than 6 blocks: ratios are preliminary (Student's t on the logarithms); fewer than 4: too few for an interval.")
	}
	for _, b := range analyze.Baselines {
		if len(others[b]) > 1 {
			out = append(out, fmt.Sprintf("× %s: each against the %s with the most similar levels (%d ran).", b, b, len(others[b])))
		}
	}
	return out
}

// more is the table of what a median hides, and of the ratios that the first
// table had no room for.
func (r *ranking) more(l layout) *document.Table {
	t := &document.Table{Columns: document.Columns("environment"), Parts: true}
	full := &ranking{work: r.work, table: r.table, unit: r.unit}
	for _, c := range r.cells() {
		if c.Median != nil {
			full.order = append(full.order, c.Env)
		}
	}
	for _, name := range words.Rows(full.order) {
		t.Row(name)
	}
	for _, b := range l.baselines() {
		if b.d < interval && r.has(b.name) {
			full.estimates(t, "× "+b.name, interval, func(c *analyze.Cell) (words.Number, string) {
				return ratioNumber(c.Ratio(b.name), interval)
			})
		}
	}
	add := func(title string, of func(*analyze.Cell) string) {
		cells := lists.Map(full.cells(), of)
		if !slices.ContainsFunc(cells, func(s string) bool { return s != "–" }) {
			return // the legend says why
		}
		t.Column(document.Column{Title: title, Right: true}, document.Cells(cells...))
	}
	estimate := func(e *sample.Estimate) string {
		if e == nil {
			return "–"
		}
		return words.NumberOf(*e, r.unit.By, words.Full).String()
	}
	if baseline, all := r.effects(); baseline != "" && all == "" {
		add("effect", func(c *analyze.Cell) string {
			if q := c.Ratio(baseline); q != nil && q.Effect != "" && q.Method != "itself" {
				return q.Effect
			}
			return "–"
		})
	}
	add("spread", func(c *analyze.Cell) string {
		if c.Spread == nil {
			return "–"
		}
		return words.TwoDigits(100**c.Spread) + " %"
	})
	add("far out", func(c *analyze.Cell) string { return strconv.Itoa(c.Outliers) })
	add("least", func(c *analyze.Cell) string { return estimate(&sample.Estimate{Value: *c.Min}) })
	add("p95", func(c *analyze.Cell) string { return estimate(c.P95) })
	add("p99", func(c *analyze.Cell) string { return estimate(c.P99) })
	add("most", func(c *analyze.Cell) string { return estimate(&sample.Estimate{Value: *c.Max}) })
	return t
}

// moreLegend explains that table.
func (r *ranking) moreLegend() string {
	s := "spread: the distance between the quartiles over the median. far out: values beyond Tukey's far fences, which count like all others. p95 needs 72 values, p99 needs 368."
	if r.unit.Name != "" {
		s = "In " + r.unit.Name + ". " + s
	}
	switch baseline, all := r.effects(); {
	case all != "":
		s += " Effect against " + baseline + ", by Cliff's δ: " + all + " for all."
	case baseline != "":
		s += " effect: against " + baseline + ", by Cliff's δ of the block medians."
	}
	return s
}

// effects names the first baseline that others are compared with, and the word
// for the size of the effect where it is one for all of them.
func (r *ranking) effects() (baseline, all string) {
	for _, b := range analyze.Baselines {
		var sizes []string
		for i := range r.table.Cells {
			if q := r.table.Cells[i].Ratio(b); q != nil && q.Effect != "" && q.Method != "itself" && !slices.Contains(sizes, q.Effect) {
				sizes = append(sizes, q.Effect)
			}
		}
		switch len(sizes) {
		case 0:
			continue
		case 1:
			return b, sizes[0]
		}
		return b, ""
	}
	return "", ""
}

func noteNumbers(n []int) string {
	return strings.Join(lists.Map(n, strconv.Itoa), " ")
}
