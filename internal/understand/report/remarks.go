package report

import (
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// remarkGroup is all remarks of one code and advice, with one number.
type remarkGroup struct {
	number  int
	code    string
	level   string
	advice  string
	remarks []record.Remark
	works   int // workloads that there are
}

// groupRemarks numbers the remarks that belong to what is shown: the run, the
// counts, and the metrics of the rankings. hidden is how many others there are.
func groupRemarks(res *analyze.Result, rankings []*ranking) (groups []*remarkGroup, hidden int) {
	for _, m := range res.Remarks {
		if m.Metric != "" && !slices.ContainsFunc(rankings, func(r *ranking) bool {
			return r.work.ID == m.Workload && r.table.Metric.ID == m.Metric
		}) {
			hidden++
			continue
		}
		i := slices.IndexFunc(groups, func(g *remarkGroup) bool {
			return g.code == m.Code && g.level == m.Level && g.advice == m.Advice
		})
		if i < 0 {
			groups = append(groups, &remarkGroup{number: len(groups) + 1, code: m.Code, level: m.Level, advice: m.Advice, works: len(res.Workloads)})
			i = len(groups) - 1
		}
		groups[i].remarks = append(groups[i].remarks, m)
	}
	for _, r := range rankings {
		r.notes = map[string][]int{}
		for _, g := range groups {
			for _, m := range g.remarks {
				if m.Env == "" || m.Workload != "" && m.Workload != r.work.ID || m.Metric != "" && m.Metric != r.table.Metric.ID {
					continue
				}
				r.notes[m.Env] = analyze.Also(r.notes[m.Env], g.number)
			}
		}
	}
	for _, r := range rankings {
		r.forgetCommon(groups)
	}
	return groups, hidden
}

// forgetCommon takes away the numbers that every row would bear: what is said
// of all needs no pointer.
func (r *ranking) forgetCommon(groups []*remarkGroup) {
	for _, g := range groups {
		n := lists.Count(r.order, func(e string) bool { return slices.Contains(r.notes[e], g.number) })
		if n < len(r.order) || n < 4 {
			continue
		}
		for e, notes := range r.notes {
			r.notes[e] = slices.DeleteFunc(notes, func(k int) bool { return k == g.number })
			if len(r.notes[e]) == 0 {
				delete(r.notes, e)
			}
		}
	}
}

// rankings are the tables to show.
func rankingsOf(res *analyze.Result, opts Options) []*ranking {
	var out []*ranking
	for w := range res.Workloads {
		work := &res.Workloads[w]
		ids := work.Show
		if opts.Metric != "" {
			ids = []string{opts.Metric}
		}
		for _, id := range ids {
			t := work.Table(id)
			if t == nil {
				continue
			}
			if c, _, agree := t.Checked(); c == nil || !agree || opts.Metric != "" { // else a line says it
				out = append(out, newRanking(work, t, opts))
			}
		}
	}
	return out
}
