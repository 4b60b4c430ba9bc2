package report

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
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
		return nil, fmt.Errorf("finding the overhead in run %s: no baseline ran; run the study anew with native, floor or host", clean(res.Run.ID))
	}
	if !slices.Contains(analyze.Baselines, opts.Overhead) {
		return nil, fmt.Errorf("no baseline %q: it can be native, floor or host", opts.Overhead)
	}
	return nil, fmt.Errorf("finding the overhead against %s: it did not run in run %s; choose another baseline, or run the study anew with it", opts.Overhead, clean(res.Run.ID))
}

// overheadGrid has a row for each environment and a column for each workload,
// then one for each suite.
func overheadGrid(res *analyze.Result, o *analyze.Overhead) *grid {
	g := &grid{cols: []col{{title: "environment"}}}
	failed := make([]string, len(o.Environments))
	for i, env := range o.Environments {
		g.rows = append(g.rows, row{cells: []string{nameOf(env)}})
		failed[i] = strconv.Itoa(failures(res, o, env))
	}
	add := func(title string, cells []string, right bool) {
		g.cols = append(g.cols, col{title: title, right: right})
		for i := range g.rows {
			g.rows[i].cells = append(g.rows[i].cells, cells[i])
		}
	}
	add("failed", failed, true)
	for _, r := range o.Rows {
		arrow := ""
		if r.Metric.Better == record.HigherIsBetter {
			arrow = " ↑"
		}
		add(cut(clean(cmp.Or(r.Title, r.Workload)), maxName)+"\n"+clean(r.Metric.Title)+arrow+", %", overheadCells(r.Cells), false)
	}
	for _, s := range o.Suites {
		add(cut(clean(s.Name), maxName)+"\ngeometric mean, %", overheadCells(s.Cells), false)
	}
	return g
}

// failures counts the failed trials of an environment in the rows' workloads.
func failures(res *analyze.Result, o *analyze.Overhead, env string) int {
	n := 0
	for _, r := range o.Rows {
		for _, c := range res.Workload(r.Workload).Counts {
			if c.Env == env {
				n += c.Failed
			}
		}
	}
	return n
}

func overheadCells(cells []analyze.OverheadCell) []string {
	values, rest := make([]string, len(cells)), make([]string, len(cells))
	for i, c := range cells {
		if c.Missing == analyze.NotAsked {
			continue
		}
		if c.Overhead == nil {
			values[i] = "n/a"
			continue
		}
		n := numberOf(*c.Overhead, 0.01, 2)
		values[i], rest[i] = n.value, " "+n.interval
		switch {
		case n.interval == "":
			rest[i] = " too few"
		case c.Verdict == analyze.Equal:
			rest[i] += " ="
		case c.Verdict == analyze.CannotTell:
			rest[i] += " ~"
		}
	}
	values = align(values)
	for i := range values {
		values[i] += rest[i]
	}
	return values
}

// overheadTitle says against what.
func overheadTitle(o *analyze.Overhead) string {
	return "Overhead against " + o.Baseline
}

// overheadLegend says how to read the table.
func overheadLegend(res *analyze.Result, o *analyze.Overhead) []string {
	out := []string{fmt.Sprintf("Per cent of %s's speed that is lost: (Pb - Pi)/Pb where more is better (↑), 1 - Pb/Pi where less is; "+
		"0 is alike, 50 half as fast, below 0 faster. Brackets: 95 %% intervals, from the ratios inside blocks (%d). "+
		"= equal within ±%.3g %%, ~ cannot tell yet, no mark: different (Holm over the table, 5 %%).", o.Baseline, res.Run.Blocks, 100*res.Run.Delta)}
	if len(o.Suites) > 0 {
		out = append(out, "The geometric mean is of the relative speeds of the workloads, block by block; it is given where an environment has all of them.")
	}
	if slices.ContainsFunc(o.Rows, func(r analyze.OverheadRow) bool {
		return slices.ContainsFunc(r.Cells, func(c analyze.OverheadCell) bool { return c.Method == "t" })
	}) {
		out = append(out, "Fewer than 6 blocks: the intervals are preliminary.")
	}
	for _, r := range o.Rows {
		for _, c := range r.Cells {
			if c.Overhead == nil && c.Missing != analyze.NotAsked {
				out = append(out, sentence(fmt.Sprintf("n/a for %s with %s: %s", nameOf(c.Env), clean(r.Workload), clean(c.Missing))))
			}
		}
	}
	return out
}

func overheadText(w io.Writer, res *analyze.Result, opts Options) error {
	o, err := overheadWanted(res, opts)
	if err != nil {
		return err
	}
	p := newPage(w, opts)
	p.text("head", "", headline(res))
	p.text("", "", protocol(res))
	p.blank()
	p.line("head", overheadTitle(o))
	p.parts(overheadGrid(res, o))
	for _, s := range overheadLegend(res, o) {
		p.text("dim", "", s)
	}
	return p.w.Flush()
}

func overheadMarkdown(w io.Writer, res *analyze.Result, opts Options) error {
	o, err := overheadWanted(res, opts)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "# %s: %s\n\n%s.\n\n", mdEscape(overheadTitle(o)), mdEscape(headline(res)), mdEscape(protocol(res)))
	mdGrid(out, overheadGrid(res, o))
	for i, s := range overheadLegend(res, o) {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintln(out, mdEscape(s))
	}
	return out.Flush()
}

// overheadCSV has a row for each environment and workload, and one for each
// environment and suite; overheads are fractions, in full precision.
func overheadCSV(w io.Writer, res *analyze.Result, opts Options) error {
	o, err := overheadWanted(res, opts)
	if err != nil {
		return err
	}
	rows := [][]string{{"run", "kind", "workload", "metric", "better", "environment", "baseline", "against",
		"overhead", "overhead_lo", "overhead_hi", "blocks", "method", "verdict", "missing"}}
	add := func(kind, work, metric, better string, cells []analyze.OverheadCell) {
		for _, c := range cells {
			r := []string{clean(res.Run.ID), kind, clean(work), clean(metric), better, clean(c.Env), o.Baseline, clean(c.Against)}
			r = append(r, three(c.Overhead)...)
			rows = append(rows, append(r, strconv.Itoa(c.Blocks), c.Method, string(c.Verdict), clean(c.Missing)))
		}
	}
	for _, r := range o.Rows {
		add("workload", r.Workload, r.Metric.ID, string(betterOf(r.Metric)), r.Cells)
	}
	for _, s := range o.Suites {
		add("suite", s.Name, "", "", s.Cells)
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func overheadJSON(w io.Writer, res *analyze.Result, opts Options) error {
	o, err := overheadWanted(res, opts)
	if err != nil {
		return err
	}
	return encode(w, o)
}
