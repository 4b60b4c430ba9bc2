package compare

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// Before is what a comparison with a run that is still to be measured can hold:
// the cells of base. common says that the two share any of them, yardstick that
// something will take the machine's own change out of one.
func Before(base *analyze.Result, next *record.Run, metrics []string) (c *Changes, common, yardstick bool, err error) {
	to := &analyze.Result{Environments: next.Environments, Audit: &audit.Audit{},
		Run: analyze.RunInfo{Study: next.Study.Name, Tool: next.Tool, Protocol: next.Protocol, Host: next.Host, Noise: next.Noise, Gate: next.Gate}}
	c = newChanges(base, to, Options{})
	c.Facts = Facts(base, to)
	var both []string // the baselines that ran in BASE and will run now
	for _, e := range base.Environments {
		if x := to.Environment(e.ID); e.Baseline != "" && x != nil && x.Baseline != "" {
			both = append(both, e.ID)
		}
	}
	common, yardstick = false, len(both) > 0
	for w := range base.Workloads {
		work := &base.Workloads[w]
		there := slices.ContainsFunc(next.Workloads, func(x record.Workload) bool { return x.ID == work.ID })
		for t := range work.Tables {
			for i := range work.Tables[t].Cells {
				cell := &work.Tables[t].Cells[i]
				if cell.Median == nil {
					continue
				}
				ch := c.change(base, work, &work.Tables[t], cell.Env)
				ch.Base, ch.BaseBlocks = cell.Median, cell.Blocks
				if there && to.Environment(cell.Env) != nil {
					common = true
					yardstick = yardstick || OwnScale(ch.Metric.Unit)
					if slices.ContainsFunc(both, func(id string) bool { return id != cell.Env }) {
						ch.Against = "native" // or another one: that there is one is what counts
					}
				}
				c.Cells = append(c.Cells, ch)
			}
		}
	}
	return c, common, yardstick, c.Keep(Options{Metrics: metrics})
}
