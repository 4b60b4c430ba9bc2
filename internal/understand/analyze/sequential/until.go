// Package sequential decides between blocks which cells of a run have had their
// question answered, and says beforehand what a run can find. It looks only as
// often as a rule does whose error rates are known by simulation.
//
// Why it is so: docs/decisions/comparing.md.
package sequential

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Until looks at a run after some blocks. A cell leaves where the interval of
// its ratio, of every metric that a report shows first, is narrower than ±width;
// and where no block gave a ratio, so that more would not either. What it is
// held against stays as long as anything of its workload is open. The run ends
// when nothing is.
//
// Width alone decides, never on which side of anything an interval lies: a rule
// that stops at a difference finds one in a fifth of all runs where there is
// none.
func Until(r *analyze.Result, width float64) record.Look {
	l := record.Look{Rule: record.RuleUntil, Blocks: r.Run.Blocks}
	gone := r.Gone()
	for w := range r.Workloads {
		work := &r.Workloads[w]
		open := false
		asked := questions(work, r.Environments)
		for _, q := range asked {
			l.Asked++
			c := record.LookCell{Env: q.env, Workload: q.workload, Metric: q.metric, Against: q.against}
			if !math.IsNaN(q.half) && !math.IsInf(q.half, 1) {
				c.HalfWidth = &q.half
			}
			switch {
			case gone[record.CellID{Env: q.env, Workload: q.workload}]:
				l.Settled++
				continue
			case math.IsNaN(q.half):
				c.Left, c.Why = true, "no ratio: "+q.why
			case q.half <= width:
				c.Left, c.Why = true, fmt.Sprintf("± %s is known", sample.Percent(q.half))
			default:
				open = true
			}
			if c.Left {
				l.Settled++
			}
			l.Cells = append(l.Cells, c)
		}
		l.Cells = hold(r, l.Cells, work, asked, gone, open)
	}
	if l.Settled == l.Asked {
		l.Ended, l.Why = true, fmt.Sprintf("every ratio is known to ± %s", sample.Percent(width))
	}
	return l
}

// hold lets what others are held against leave with the last of them, and
// keeps it until then.
func hold(r *analyze.Result, cells []record.LookCell, work *analyze.Workload, asked []question, gone map[record.CellID]bool, open bool) []record.LookCell {
	for i, e := range r.Environments {
		id := record.CellID{Env: e.ID, Workload: work.ID}
		reference := e.Baseline != "" || slices.ContainsFunc(asked, func(q question) bool { return q.against == e.ID })
		if work.Counts[i].Trials == 0 || gone[id] {
			continue
		}
		k := slices.IndexFunc(cells, func(c record.LookCell) bool { return record.CellID{Env: c.Env, Workload: c.Workload} == id })
		switch {
		case open && reference && k >= 0:
			if cells[k].Left {
				cells[k].Left, cells[k].Why = false, "others are compared with it"
			}
		case !open && k < 0:
			cells = append(cells, record.LookCell{Env: e.ID, Workload: work.ID, Left: true, Why: "nothing else is open"})
		}
	}
	return cells
}
