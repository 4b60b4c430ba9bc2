package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/document"
	"plimsoll/internal/understand/words"
)

// overviewFrom is the number of workloads from which on a reader needs the
// whole on one page before its parts.
const overviewFrom = 4

// overview has a line for each workload, by its first metric that the baseline
// has, and a column for each environment: how many times worse than the baseline,
// whether less is better or more.
func overview(res *analyze.Result, rankings []*ranking) (t *document.Table, baseline string) {
	baseline = commonBaseline(res)
	if baseline == "" {
		return nil, ""
	}
	var first []*ranking
	for i, r := range rankings {
		switch {
		case i == 0 || rankings[i-1].work != r.work:
			first = append(first, r)
		case r.table == r.work.First(baseline):
			first[len(first)-1] = r
		}
	}
	if len(first) < overviewFrom {
		return nil, ""
	}
	t = &document.Table{Columns: document.Columns("workload", "metric", baseline), Parts: true}
	t.Columns[2].Right = true
	var envs []string
	for _, e := range res.Environments {
		if e.Baseline == "" {
			envs = append(envs, e.ID)
		}
	}
	for _, title := range words.Rows(envs) {
		t.Columns = append(t.Columns, document.Column{Title: title, Right: true})
	}
	for _, r := range first {
		cells := []string{words.Clean(cmp.Or(r.work.Title, r.work.ID)), words.Clean(r.table.Metric.Title) + arrow(r.table.Metric.Better), baselineMedian(res, r, baseline)}
		for _, e := range envs {
			c := r.table.Cell(e)
			text := overviewCell(c, baseline, r.table.Metric.Better, corrected(res, r, baseline, e))
			if text == "n/a" && c != nil && c.Median != nil { // where the baseline cannot
				text = amountOf(c, r)
			}
			cells = append(cells, text)
		}
		t.Row(cells...)
	}
	if len(res.Run.Parts) > 0 && !compact(t) {
		return nil, ""
	}
	return t, baseline
}

// compact leaves out, of a study with parts, the environments that hardly have
// a number in the overview, and then the workloads: each stands in its own
// table. It says whether enough is left.
func compact(t *document.Table) bool {
	const names, enough = 3, 2
	has := func(c document.Cell) bool { return c.Text != "" && c.Text != "n/a" }
	for k := len(t.Columns) - 1; k >= names; k-- {
		if n := lists.Count(t.Rows, func(r document.Row) bool { return has(r.Cells[k]) }); n < enough {
			t.Drop(k, k+1)
		}
	}
	t.Rows = slices.DeleteFunc(t.Rows, func(r document.Row) bool { return !slices.ContainsFunc(r.Cells[names:], has) })
	return len(t.Columns) > names && len(t.Rows) >= enough
}

// commonBaseline is the first of native, floor and host that ran.
func commonBaseline(res *analyze.Result) string {
	for _, b := range analyze.Baselines {
		if slices.ContainsFunc(res.Environments, func(e record.Environment) bool { return e.Baseline == b }) {
			return b
		}
	}
	return ""
}

func baselineMedian(res *analyze.Result, r *ranking, baseline string) string {
	for _, e := range res.Environments {
		if e.Baseline != baseline {
			continue
		}
		if c := r.table.Cell(e.ID); c != nil && c.Median != nil {
			return amountOf(c, r)
		}
	}
	return "n/a"
}

// amountOf is a median in the unit of its ranking, with four digits that count.
func amountOf(c *analyze.Cell, r *ranking) string {
	return strings.TrimSpace(fourDigits(c.Median.Value/r.unit.By) + " " + r.unit.Name)
}

// fourDigits has no exponent: a rate of 17260 is read, one of 1.726e+04 is not.
func fourDigits(v float64) string {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // it was a number
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// corrected is the verdict of the heat map, which is corrected over all of its
// cells; "" where it has none of this metric.
func corrected(res *analyze.Result, r *ranking, baseline, env string) analyze.Verdict {
	for _, o := range res.Overhead {
		for _, row := range o.Rows {
			if o.Baseline != baseline || row.Workload != r.work.ID || row.Metric.ID != r.table.Metric.ID {
				continue
			}
			for _, c := range row.Cells {
				if c.Env == env {
					return c.Verdict
				}
			}
		}
	}
	return ""
}

// overviewCell is how many times worse, with a mark for what can be said of it.
func overviewCell(c *analyze.Cell, baseline string, better record.Direction, verdict analyze.Verdict) string {
	if c != nil && c.Missing == analyze.NotAsked {
		return ""
	}
	if c == nil || c.Median == nil {
		return "n/a"
	}
	q := c.Ratio(baseline)
	if q == nil || q.Missing != "" {
		return "n/a"
	}
	mark := ""
	switch cmp.Or(verdict, q.Verdict) {
	case analyze.Equal:
		mark = " ="
	case analyze.CannotTell, "":
		mark = " ~"
	}
	v := q.Value
	if better == record.HigherIsBetter && v > 0 {
		v = 1 / v
	}
	return fmt.Sprintf("%.3g%s", v, mark)
}

// overviewLegend explains the marks.
func overviewLegend(baseline string, delta float64) string {
	return fmt.Sprintf("Each number is how many times worse than %s by the workload's first metric, below 1 better, or the value where there is no ratio; ↑ marks a metric of which more is better. "+
		"= equal within ±%.3g %%, ~ cannot be told apart or too few blocks, no mark: different (Holm over the table, 5 %%).", baseline, 100*delta)
}
