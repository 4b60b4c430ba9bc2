package gate

import (
	"fmt"
	"math"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// Look says what a gate's answers, which Judge gave, mean for the run that NEW
// is: it ends when one cell fails, or when none is open. A cell that passed
// leaves, and so does what no threshold is for; where BASE is another run,
// baselines stay as long as anything of their workload is open.
func Look(c *compare.Changes) record.Look {
	l := record.Look{Rule: record.RuleGate, Blocks: c.NewRun.Run.Blocks}
	cells := map[record.CellID]*record.LookCell{}
	open := map[string]bool{} // workloads
	still := map[record.CellID]bool{}
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.Gate == nil {
			continue
		}
		envs := []string{ch.Env}
		if ch.NewEnv != "" {
			envs = append(envs, ch.NewEnv)
		}
		waits := ch.Gate.State == compare.Inconclusive && ch.Missing == "" && !ch.Absolute()
		for _, env := range envs {
			waits := waits || openFailures(c, env, ch.Workload)
			id := record.CellID{Env: env, Workload: ch.Workload}
			x := cells[id]
			if x == nil {
				x = &record.LookCell{Env: env, Workload: ch.Workload}
				cells[id] = x
			}
			still[id] = still[id] || waits
			open[ch.Workload] = open[ch.Workload] || waits
			if half := halfWidth(ch, c.Gate.Level); half != nil && (x.HalfWidth == nil || *half > *x.HalfWidth) {
				x.HalfWidth, x.Metric, x.Against = half, ch.Metric.ID, ch.Against
			}
		}
	}
	gone := c.NewRun.Gone()
	for _, w := range c.NewRun.Workloads {
		for i, e := range c.NewRun.Environments {
			id := record.CellID{Env: e.ID, Workload: w.ID}
			x := cells[id]
			if x != nil {
				l.Asked++
				if !still[id] {
					l.Settled++
				}
			} else {
				x = &record.LookCell{Env: e.ID, Workload: w.ID, Why: "it has no threshold"}
			}
			switch {
			case w.Counts[i].Trials == 0 || gone[id]:
				continue
			case still[id]:
				x.Why = "the threshold lies inside the interval"
				if openFailures(c, e.ID, w.ID) {
					x.Why = "its later trials decide whether too many fail"
				}
			case e.Baseline != "" && open[w.ID] && !c.Interleaved: // pairs of one block need none
				continue
			default:
				x.Left = true
				if x.Why == "" {
					x.Why = "decided"
				}
			}
			l.Cells = append(l.Cells, *x)
		}
	}
	switch {
	case c.Gate.State == compare.GateFails:
		l.Ended, l.Why = true, fmt.Sprintf("the gate fails, %d of %d", c.Gate.Failed, c.Gate.Gated)
	case c.Gate.State == compare.Passed:
		l.Ended, l.Why = true, "the gate passes"
	case l.Settled == l.Asked:
		l.Ended, l.Why = true, "the gate cannot tell, and more blocks would not help"
	}
	return l
}

// halfWidth is that of the ratio's interval of a level, as a fraction, nil where
// there is none.
func halfWidth(c *compare.Change, level float64) *float64 {
	if c.Sample.Blocks() < sample.MinT {
		return nil
	}
	_, in, _, ok := c.Sample.Estimate(level)
	half := math.Expm1(in.Width() / 2)
	if !ok || math.IsInf(half, 0) || math.IsNaN(half) {
		return nil
	}
	return &half
}
