package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// overheadWanted finds the heat map that the options ask for.
func overheadWanted(res *analyze.Result, opts Options) (*analyze.Overhead, error) {
	for _, b := range analyze.Baselines {
		if opts.Overhead != AnyBaseline && opts.Overhead != b {
			continue
		}
		if o := res.OverheadOf(b, opts.Metric); o != nil {
			return o, nil
		}
	}
	if opts.Overhead == AnyBaseline {
		return nil, fmt.Errorf("finding the overhead in run %s: no baseline ran; run the study again with native, floor or host", words.Clean(res.Run.ID))
	}
	if !slices.Contains(analyze.Baselines, opts.Overhead) {
		return nil, fmt.Errorf("no baseline %q: it can be native, floor or host", opts.Overhead)
	}
	return nil, fmt.Errorf("finding the overhead against %s: it did not run in run %s; choose another baseline, or run the study again with it", opts.Overhead, words.Clean(res.Run.ID))
}

// overheadOf is a heat map of a result.
type overheadOf struct {
	res *analyze.Result
	*analyze.Overhead
}

var overheadFormats = kindOf("the overhead", overheadDocument,
	format[overheadOf]{"csv", asCSV(overheadCSV)},
	jsonOf(func(o overheadOf) *analyze.Overhead { return o.Overhead }),
)

func overheadDocument(d *document.Document, o overheadOf, _ Options) {
	title := "Overhead against " + o.Baseline
	begin(d, title, o.res)
	if d.Medium == document.Text {
		d.Heading(2, title)
	}
	d.Add(overheadTable(o))
	d.Legend(overheadLegend(o.res, o.Overhead)...)
}

// overheadTable has a row for each environment and a column for each workload,
// then one for each suite.
func overheadTable(o overheadOf) *document.Table {
	t := &document.Table{Columns: document.Columns("environment", "failed"), Parts: true}
	t.Columns[1].Right = true
	names := words.Rows(o.Environments)
	for i, env := range o.Environments {
		t.Row(names[i], strconv.Itoa(failures(o.res, o.Overhead, env)))
	}
	add := func(title string, cells []analyze.OverheadCell) {
		t.Column(document.Column{Title: title, Points: true}, overheadCells(cells))
	}
	for _, r := range o.Rows {
		add(words.Cut(words.Clean(cmp.Or(r.Title, r.Workload)), words.MaxName)+"\n"+words.Clean(r.Metric.Title)+arrow(r.Metric.Better)+", %", r.Cells)
	}
	for _, s := range o.Suites {
		add(words.Cut(words.Clean(s.Name), words.MaxName)+"\ngeometric mean, %", s.Cells)
	}
	return t
}

// failures counts the failed trials of an environment in the rows' workloads.
func failures(res *analyze.Result, o *analyze.Overhead, env string) int {
	n := 0
	for _, r := range o.Rows {
		n += res.Workload(r.Workload).Count(env).Failed
	}
	return n
}

func overheadCells(cells []analyze.OverheadCell) []document.Cell {
	out := make([]document.Cell, len(cells))
	for i, c := range cells {
		if c.Missing == analyze.NotAsked {
			continue
		}
		if c.Overhead == nil {
			out[i].Text = "n/a"
			continue
		}
		n := overheadNumber(*c.Overhead)
		out[i] = document.Cell{Text: n.Value, Tail: n.Interval}
		switch {
		case n.Interval == "":
			out[i].Tail = "too few"
		case c.Verdict == analyze.Equal:
			out[i].Tail += " ="
		case c.Verdict == analyze.CannotTell:
			out[i].Tail += " ~"
		}
	}
	return out
}

// large is the overhead from which on it is written as how many times: 99.85 % is
// 652 ×, and tells nothing as it stands.
const large = 0.9

// overheadNumber writes an overhead in per cent, or a large one as how many times.
func overheadNumber(e sample.Estimate) words.Number {
	if !(e.Value >= large && e.Value < 1) {
		return words.NumberOf(e, 0.01, 2)
	}
	times := func(v float64) float64 { return 1 / (1 - v) }
	q := sample.Estimate{Value: times(e.Value)}
	if e.Lo != nil && e.Hi != nil && *e.Hi < 1 {
		q.Lo, q.Hi = new(times(*e.Lo)), new(times(*e.Hi))
	}
	n := words.NumberOf(q, 1, 2)
	n.Interval = strings.TrimSpace("× " + cmp.Or(n.Interval, "too few"))
	return n
}

// overheadLegend says how to read the table.
func overheadLegend(res *analyze.Result, o *analyze.Overhead) []string {
	out := []string{fmt.Sprintf("Per cent of %s's speed lost: (Pb - Pi)/Pb where more is better (↑), 1 - Pb/Pi where less is; "+
		"0 is the same, 50 half as fast, below 0 faster. Brackets: 95 %% intervals, from the ratios inside blocks (%d). "+
		"= equal within ±%.3g %%, ~ cannot tell yet, no mark: different (Holm over the table, 5 %%).", o.Baseline, res.Run.Blocks, 100*res.Run.Delta)}
	if slices.ContainsFunc(o.Rows, func(r analyze.OverheadRow) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.OverheadCell) bool { return c.Overhead != nil && c.Overhead.Value >= large })
	}) {
		out = append(out, "×: how many times as slow, of a loss of 90 % or more.")
	}
	if len(o.Suites) > 0 {
		out = append(out, "The geometric mean is of the relative speeds of the workloads, block by block; it is given if an environment has all of them.")
	}
	if slices.ContainsFunc(o.Rows, func(r analyze.OverheadRow) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.OverheadCell) bool { return c.Method == "t" })
	}) {
		out = append(out, "Fewer than 6 blocks: the intervals are preliminary.")
	}
	for _, r := range o.Rows {
		for _, c := range r.Cells {
			if c.Overhead == nil && c.Missing != analyze.NotAsked {
				out = append(out, words.Sentence(fmt.Sprintf("n/a for %s with %s: %s", words.Name(c.Env), words.Clean(r.Workload), words.Clean(c.Missing))))
			}
		}
	}
	return out
}

// overheadCSV has a row for each environment and workload, and one for each
// environment and suite; overheads are fractions, in full precision.
func overheadCSV(o overheadOf, _ Options) [][]string {
	rows := [][]string{{"run", "kind", "workload", "metric", "better", "environment", "baseline", "against",
		"overhead", "overhead_lo", "overhead_hi", "blocks", "method", "verdict", "missing"}}
	add := func(kind, work, metric, better string, cells []analyze.OverheadCell) {
		for _, c := range cells {
			r := []string{words.Clean(o.res.Run.ID), kind, words.Clean(work), words.Clean(metric), better, words.Clean(c.Env), o.Baseline, words.Clean(c.Against)}
			r = append(r, three(c.Overhead)...)
			rows = append(rows, append(r, strconv.Itoa(c.Blocks), c.Method, string(c.Verdict), words.Clean(c.Missing)))
		}
	}
	for _, r := range o.Rows {
		add("workload", r.Workload, r.Metric.ID, string(betterOf(r.Metric)), r.Cells)
	}
	for _, s := range o.Suites {
		add("suite", s.Name, "", "", s.Cells)
	}
	return rows
}
