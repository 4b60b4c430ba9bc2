package gate

import (
	"fmt"
	"slices"

	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// allowFailures is the share of a cell's trials that may fail in NEW beyond
// BASE's share where nothing else is said. A flake in twenty trials passes.
const allowFailures = 0.05

// gateFailures judges the failed trials of each cell that is not ignored. The
// times are of those that did not fail, so that they say nothing of these. While
// NEW goes on, a share of few trials fails only once the rest of them can't
// bring it down.
func gateFailures(c *compare.Changes, t Thresholds) (failed, open int) {
	allowed := allowFailures
	if t.AllowFailures != nil {
		allowed = *t.AllowFailures
	}
	const rounding = 1e-9
	for i := range c.Failures {
		f := &c.Failures[i]
		if ignores(c, t, f) {
			continue
		}
		g := &compare.FailureGate{Allowed: allowed, State: compare.Passed}
		f.Gate = g
		extra := f.Extra()
		least := compare.FailedShare(f.NewFailed, max(f.NewTrials, c.NewRun.Run.Protocol.Blocks*c.NewRun.Run.Protocol.PerBlock)) - compare.FailedShare(f.BaseFailed, f.BaseTrials)
		more := fmt.Sprintf("%s more of its trials failed than in BASE", sample.Percent(extra))
		switch {
		case f.Worse, extra > allowed+rounding && (!t.Looking || least > allowed+rounding):
			g.State, g.Reason = compare.GateFails, fmt.Sprintf("%s, and %s are tolerated", more, sample.Percent(allowed))
			if extra <= allowed+rounding {
				g.Reason = more + ", and the intervals of the two shares lie apart"
			}
			failed++
		case extra > allowed+rounding:
			g.State, g.Reason = compare.Inconclusive, fmt.Sprintf("%s, and %s are tolerated: its later trials decide", more, sample.Percent(allowed))
			open++
		case extra > 0:
			g.Reason = fmt.Sprintf("%s, and %s are tolerated", more, sample.Percent(allowed))
		}
	}
	return failed, open
}

// ignores says that rules leave every metric of a cell out of the gate.
func ignores(c *compare.Changes, t Thresholds, f *compare.FailureChange) bool {
	all := false
	for i := range c.Cells {
		ch := &c.Cells[i]
		if ch.Workload != f.Workload || ch.Env != f.Env {
			continue
		}
		last := -1
		for k := range t.Rules {
			if matches(&t.Rules[k], ch) {
				last = k
			}
		}
		if last < 0 || !t.Rules[last].Ignore {
			return false
		}
		all = true
	}
	return all
}

// openFailures says of a cell that its later trials decide whether too many
// failed.
func openFailures(c *compare.Changes, env, workload string) bool {
	return slices.ContainsFunc(c.Failures, func(f compare.FailureChange) bool {
		return f.Workload == workload && (f.Env == env || f.NewEnv == env) && f.Gate != nil && f.Gate.State == compare.Inconclusive
	})
}
