package analyze

import (
	"plimsoll/internal/record"
	"slices"
)

// before is what a comparison with a run that is still to be measured can hold:
// the cells of base. common says that the two share any of them, yardstick that
// something will take the machine's own change out of one.
func before(base *Result, next *record.Run, metrics []string) (c *Changes, common, yardstick bool, err error) {
	to := &Result{Environments: next.Environments, Audit: &Audit{},
		Run: RunInfo{Study: next.Study.Name, Tool: next.Tool, Protocol: next.Protocol, Host: next.Host, Noise: next.Noise, Gate: next.Gate}}
	c = newChanges(base, to, CompareOptions{})
	c.Facts = facts(base, to)
	var both []string // the baselines that ran in BASE and will run now
	for _, e := range base.Environments {
		if x := to.environment(e.ID); e.Baseline != "" && x != nil && x.Baseline != "" {
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
				if there && to.environment(cell.Env) != nil {
					common = true
					yardstick = yardstick || ownScale(ch.Metric.Unit)
					if slices.ContainsFunc(both, func(id string) bool { return id != cell.Env }) {
						ch.Against = "native" // or another one: that there is one is what counts
					}
				}
				c.Cells = append(c.Cells, ch)
			}
		}
	}
	return c, common, yardstick, c.filter(CompareOptions{Metrics: metrics})
}
