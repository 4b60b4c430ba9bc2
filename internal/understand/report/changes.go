package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

var changesFormats = formatsOf[*compare.Changes]{
	{"text", changesText},
	{"markdown", changesMarkdown},
	{"json", asJSON[*compare.Changes]},
	{"junit", changesJUnit},
	{"github", changesGitHub},
}

// ChangesFormats lists the formats of WriteChanges.
func ChangesFormats() []string { return changesFormats.names() }

// WriteChanges renders what changed in a format.
func WriteChanges(w io.Writer, name string, c *compare.Changes, opts Options) error {
	return changesFormats.write(w, name, "changes", c, opts)
}

// changeTable is the cells of one metric of one workload.
type changeTable struct {
	title string
	grid  *grid
}

// changeTables makes a table of each metric, in the order of the cells.
func changeTables(all []compare.Change, gate bool) []changeTable {
	type key struct{ work, metric string }
	var order []key
	cells := map[key][]*compare.Change{}
	for i := range all {
		ch := &all[i]
		k := key{ch.Workload, ch.Metric.ID}
		if cells[k] == nil {
			order = append(order, k)
		}
		cells[k] = append(cells[k], ch)
	}
	var out []changeTable
	for _, k := range order {
		m, what := cells[k][0].Metric, ""
		if q := cells[k][0].Quantile; q > 0 {
			what = ", " + compare.QuantileName(q)
		}
		out = append(out, changeTable{
			title: clean(k.work) + ": " + clean(firstOf(m.Title, m.ID)) + what + "; " + better(m),
			grid:  changeGrid(cells[k], gate),
		})
	}
	return out
}

func changeGrid(cells []*compare.Change, gate bool) *grid {
	var values []float64
	for _, ch := range cells {
		for _, e := range []*sample.Estimate{ch.Base, ch.New} {
			if e != nil {
				values = append(values, e.Value)
			}
		}
	}
	u := scaleFor(cells[0].Metric.Unit, values)
	g := &grid{cols: []col{{title: "environment"}, {title: strings.TrimSpace("BASE, " + u.unit)}, {title: strings.TrimSpace("NEW, " + u.unit)}, {title: "NEW / BASE"}}}
	if gate {
		g.cols = append(g.cols, col{title: "gate"})
	}
	g.cols = append(g.cols, col{title: "verdict"}) // may be long: last
	of := func(get func(*compare.Change) *sample.Estimate, by float64, times string) []string {
		var numbers, tails []string
		for _, ch := range cells {
			e := get(ch)
			if e == nil {
				numbers, tails = append(numbers, ""), append(tails, "")
				continue
			}
			n := numberOf(*e, by, 3)
			numbers, tails = append(numbers, n.value), append(tails, strings.TrimSpace(times+n.interval))
		}
		out := align(numbers)
		for i := range out {
			out[i] = strings.TrimRight(out[i]+" "+tails[i], " ")
		}
		return out
	}
	base := of(func(ch *compare.Change) *sample.Estimate { return ch.Base }, u.by, "")
	next := of(func(ch *compare.Change) *sample.Estimate { return ch.New }, u.by, "")
	ratio := of(func(ch *compare.Change) *sample.Estimate { return ch.Ratio }, 1, "× ")
	for i, ch := range cells {
		r := row{cells: []string{nameOf(ch.Name()), base[i], next[i], ratio[i]}}
		if gate {
			r.cells = append(r.cells, gateText(ch))
		}
		r.cells = append(r.cells, verdictText(ch))
		if ch.Verdict == compare.Worse || ch.Lost {
			r.style = "warn"
		}
		g.rows = append(g.rows, r)
	}
	return g
}

// verdictText says in words what a cell came to.
func verdictText(ch *compare.Change) string {
	switch {
	case ch.Lost:
		return "lost: " + clean(ch.Missing)
	case ch.Base == nil:
		return "new: " + clean(ch.Missing)
	case ch.Missing != "":
		return "n/a: " + clean(ch.Missing)
	case ch.Ratio != nil && ch.Ratio.Lo == nil && ch.Method != "identical":
		return "cannot tell: too few blocks"
	case ch.Verdict == compare.Unclear && ch.BlocksNeeded > 0:
		return fmt.Sprintf("cannot tell (%d blocks?)", ch.BlocksNeeded)
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
	return fmt.Sprintf("%s (%s)", ch.Gate.State, percentText(ch.Gate.Threshold))
}

func percentText(f float64) string { return fmt.Sprintf("%.3g %%", 100*f) }

// groupGrid is the table of rows and columns.
func groupGrid(c *compare.Changes) *grid {
	g := &grid{cols: []col{{title: strings.Join(c.Grouping.Row, ", ")}}}
	for _, k := range c.Grouping.Cols {
		g.cols = append(g.cols, col{title: firstOf(clean(strings.Join(k, ", ")), "NEW / BASE")})
	}
	for i, places := range c.Grouping.Places {
		r := row{cells: []string{firstOf(clean(strings.Join(c.Grouping.Rows[i], ", ")), "all")}}
		for _, p := range places {
			r.cells = append(r.cells, placeText(c, p))
		}
		g.rows = append(g.rows, r)
	}
	return g
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
	n := numberOf(*ch.Ratio, 1, 3)
	return strings.TrimSpace(n.value+" × "+n.interval) + " " + verdictText(ch)
}

// changesLegend explains the table.
func changesLegend(c *compare.Changes) []string {
	how := "NEW / BASE is from pairs of the same block."
	switch {
	case c.Interleaved:
	case slices.ContainsFunc(c.Cells, func(ch compare.Change) bool { return ch.Against != "" }):
		how = "NEW / BASE is from the block medians of both, each divided by a baseline of its own block where there is one: it need not be the quotient of the medians."
	default:
		how = "NEW / BASE is from the block medians of both, as they are, by the median of all their ratios: it need not be the quotient of the medians."
	}
	out := []string{
		how + fmt.Sprintf(" Brackets: 95 %% intervals. Better and worse: beyond %s, and with p below 5 %% (%s, Holm over the table); equal: within; (n blocks?): so many might tell.", percentText(c.Delta), c.Test),
	}
	if len(c.Quantiles) > 0 {
		out = append(out, fmt.Sprintf("%s: by order statistics of all values; better and worse by the interval at a level corrected for %s (Bonferroni). No gate is on it.", compare.QuantileName(c.Quantiles[0].Quantile), Plural(len(c.Quantiles), "cell")))
	}
	if g := c.Gate; g != nil {
		out = append(out, fmt.Sprintf("The gate fails where the whole interval is worse by more than the threshold, with p below %s (%s, one-sided, Holm over its own %s), where NEW has lost a value, or where trials fail more often.", percentText((1-g.Level)/2), g.Test, Plural(g.Tested, "cell")))
		out = append(out, fmt.Sprintf("Gate and verdict are two questions: the verdict asks whether there is any difference, corrected over %s, the gate whether it is beyond the threshold, corrected over %d. So a cell can fail beside \"cannot tell\", and pass beside \"worse\".", Plural(c.Tested, "cell"), g.Tested))
	}
	return out
}

// gateEvidence is the interval and the p by which the gate judged a cell; ""
// where it judged by neither.
func gateEvidence(g *compare.Gate, cell *compare.CellGate) string {
	if cell.Ratio == nil {
		return ""
	}
	n := numberOf(*cell.Ratio, 1, 3)
	s := fmt.Sprintf("%s × %s at %.4g %%", n.value, n.interval, 100*g.Level)
	if cell.Holm != nil {
		p := percentText(*cell.Holm)
		if *cell.Holm < 1e-5 {
			p = "< 0.001 %"
		}
		s += fmt.Sprintf(", p %s over %s", p, Plural(g.Tested, "cell"))
	}
	return s
}

// sideText names one of the two.
func sideText(s compare.Side) string {
	t := "run " + clean(s.Run) + " of " + clean(s.Study)
	if s.Env != "" {
		t = clean(s.Env) + " in " + t
	}
	if !s.Started.IsZero() {
		t += ", " + s.Started.UTC().Format("2006-01-02 15:04")
	}
	return t + ", plimsoll " + clean(s.Tool) + ", " + clean(s.Machine)
}

// factLines say what differs, the same difference of several environments once.
func factLines(facts []compare.Fact) []string {
	if len(facts) == 0 {
		return []string{"Machine, tool, protocol and configuration are the same, as far as they are known."}
	}
	var order []string
	envs := map[string][]string{}
	for _, f := range facts {
		s := fmt.Sprintf("%s, %s: %s → %s", f.Where, clean(f.Key), firstOf(clean(f.Base), "–"), firstOf(clean(f.New), "–"))
		if _, ok := envs[s]; !ok {
			order = append(order, s)
			envs[s] = nil
		}
		if f.Env != "" {
			envs[s] = append(envs[s], nameOf(f.Env))
		}
	}
	for i, s := range order {
		if len(envs[s]) > 0 {
			order[i] = s + " (" + strings.Join(envs[s], ", ") + ")"
		}
	}
	return order
}

func failureLines(c *compare.Changes) []string {
	var out []string
	for _, f := range c.Failures {
		s := fmt.Sprintf("%s of %s: %d of %d failed in BASE, %d of %d in NEW", clean(f.Env), clean(f.Workload), f.BaseFailed, f.BaseTrials, f.NewFailed, f.NewTrials)
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
	s := fmt.Sprintf("gate: %s (%s", g.State, Plural(g.Gated, "cell"))
	if g.Failed > 0 {
		s += fmt.Sprintf(", %d failed", g.Failed)
	}
	if g.Inconclusive > 0 {
		s += fmt.Sprintf(", %d inconclusive", g.Inconclusive)
	}
	if g.Looks > 1 {
		s += fmt.Sprintf("; by look %d of %d, each at %.4g %%", g.Look, g.Looks, 100*g.Level)
	}
	if g.Incomplete {
		s += "; a run is incomplete, see the remarks"
	}
	return s + ")"
}

func remarkText(m record.Remark) string { return m.Code + ". " + sentence(clean(m.Text)) }
