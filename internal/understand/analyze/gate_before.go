package analyze

import (
	"fmt"
	"slices"

	"plimsoll/internal/record"
)

// CanGate says, before anything is measured, whether a run can be gated by
// base: next needs what is known by then, the host, the protocol, the
// environments and the workloads. The error, a RefusedError, says why not.
func CanGate(base *Result, next *record.Run, t Thresholds) error {
	if base.Run.Blocks == 0 {
		return &RefusedError{fmt.Sprintf("the gate is refused: BASE (run %s) has no counted trial that succeeded", base.Run.ID), "look at it with plimsoll report"}
	}
	if base.Run.Status != "done" || base.truncated() != "" {
		return &RefusedError{fmt.Sprintf("the gate is refused: BASE (run %s) is incomplete, so that nothing could pass by it", base.Run.ID), "go on with BASE by plimsoll run --resume, or measure it anew"}
	}
	to := &Result{Environments: next.Environments, Audit: &Audit{},
		Run: RunInfo{Study: next.Study.Name, Tool: next.Tool, Protocol: next.Protocol, Host: next.Host, Noise: next.Noise, Gate: next.Gate}}
	c := newChanges(base, to, CompareOptions{})
	c.Facts = facts(base, to)
	var both []string // the baselines that ran in BASE and will run now
	for _, e := range base.Environments {
		if x := to.environment(e.ID); e.Baseline != "" && x != nil && x.Baseline != "" {
			both = append(both, e.ID)
		}
	}
	common, yardstick := false, len(both) > 0
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
	if err := c.filter(CompareOptions{Metrics: t.Metrics()}); err != nil {
		return err
	}
	switch {
	case !common:
		return &RefusedError{"the gate is refused: BASE and this study have no environment and workload in common", "plimsoll plan lists what would run; give the study that BASE was measured with"}
	case !yardstick && !t.Absolute:
		return &RefusedError{"the gate is refused: no baseline ran in BASE that will run now, so that nothing takes out how fast the machine is today", "measure BASE with native or floor; the simulated engines have none: --gate-env compares two of one run"}
	}
	_, _, err := c.gated(t)
	return err
}
