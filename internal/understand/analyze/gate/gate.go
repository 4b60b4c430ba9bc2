// Package gate judges a comparison by thresholds: it passes, it fails, or it
// cannot tell. Where it would say nothing whatever the values, it is refused.
//
// Why it is so: docs/decisions/comparing.md.
package gate

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// Thresholds say what a gate lets pass.
type Thresholds struct {
	// FailAbove is the relative worsening that is let pass, 0.05 for 5 %; 0
	// gates only what a rule names.
	FailAbove float64
	// Rules are tried in order; the last one that matches a cell decides.
	Rules []Rule
	// allowFailures is the share of a cell's trials that may fail in NEW beyond
	// BASE's share; nil stands for the constant of that name.
	AllowFailures *float64
	// AllowMissing lets cells pass that BASE has and NEW has not.
	AllowMissing bool
	// Unlike gates in spite of another machine or protocol.
	Unlike bool
	// Absolute gates absolute values of two sessions.
	Absolute bool
	// Looking: NEW is going on, and what it lacks is still to come.
	Looking bool
	// Noise is the noise floor of this machine by environment, as a self-test
	// found it; "" stands for the others.
	Noise map[string]float64
}

// Metrics are the metrics that rules gate, which compare.Options must name where
// only sampling gives them.
func (t Thresholds) Metrics() []string {
	var out []string
	for _, r := range t.Rules {
		if r.Metric != "" && r.Metric != "*" && !r.Ignore { // "*" is for all that is compared anyway
			out = append(out, r.Metric)
		}
	}
	return out
}

// Rule is a threshold for some cells.
type Rule = record.GateRule

func matches(r *Rule, c *compare.Change) bool {
	ok := func(pattern, name string) bool { return pattern == "" || compare.Glob(pattern, name) }
	return ok(r.Workload, c.Workload) && ok(r.Metric, c.Metric.ID) && (ok(r.Environment, c.Env) || c.NewEnv != "" && ok(r.Environment, c.NewEnv))
}

// Looks are the numbers of blocks after which a gated run is looked at.
var Looks = []int{10, 20, 40}

// decidedBy is the number of the last look, from 1.
func decidedBy(c *compare.Changes) int {
	return lists.Count(c.NewRun.Run.Looks, func(l record.Look) bool { return l.Rule == record.RuleGate })
}

// RefusedError says that a gate would say nothing, whatever the values.
type RefusedError struct{ Why, Advice string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Why }

// Judge puts the gate to each cell that a threshold is for. A cell fails where
// the bound of its interval lies beyond the threshold, and the test of that
// against all the other gated cells, too; it passes where the other bound lies
// below the threshold. Where NEW ended when its gate had decided, all levels are
// corrected for the number of looks.
func Judge(c *compare.Changes, t Thresholds) error {
	gated, limits, err := gated(c, t)
	if err != nil {
		return err
	}
	put(c, gated, limits, t)
	return nil
}

// gated are the cells that a threshold is for. The error, a RefusedError, says
// why a gate would say nothing.
func gated(c *compare.Changes, t Thresholds) (gated []*compare.Change, limits []float64, err error) {
	if bars := c.Barred(); len(bars) > 0 && !t.Unlike {
		return nil, nil, &RefusedError{"the gate is refused: BASE and NEW were not measured alike (" + strings.Join(bars, "; ") + ")",
			"measure BASE again; --unlike gates anyway"}
	}
	used, yardsticks := make([]bool, len(t.Rules)), 0
	for i := range c.Cells {
		ch := &c.Cells[i]
		limit := t.limit(ch, used)
		switch {
		case limit <= 0 || ch.Base == nil:
		case onlyYardstick(c, ch):
			yardsticks++
		default:
			gated, limits = append(gated, ch), append(limits, limit)
		}
	}
	for k := range t.Rules {
		if !used[k] {
			return nil, nil, &RefusedError{t.Rules[k].Where + ": this rule matches no cell of the comparison",
				"plimsoll compare without a gate lists environments, workloads and metrics; a metric that only sampling gives must be named"}
		}
	}
	switch {
	case len(gated) == 0 && yardsticks > 0:
		return nil, nil, &RefusedError{"the gate is refused: all that the two have in common are baselines, which show how fast the machine was and are not gated",
			"measure an engine next to them"}
	case len(gated) == 0:
		return nil, nil, &RefusedError{"the gate is refused: no cell has a threshold, so it would always pass", "give --fail-above, or rules that match"}
	}
	return gated, limits, underNoise(c, gated, limits, t.Noise)
}

// limit is the threshold of a cell, 0 where it has none. used marks the rules
// that matched.
func (t *Thresholds) limit(ch *compare.Change, used []bool) float64 {
	limit := t.FailAbove
	for k := range t.Rules {
		if r := &t.Rules[k]; matches(r, ch) {
			limit, used[k] = r.FailAbove, true
			if r.Ignore {
				limit = 0
			}
		}
	}
	return limit
}

// onlyYardstick says that a cell is of the baseline itself, which nothing
// beside it can be held against.
func onlyYardstick(c *compare.Changes, ch *compare.Change) bool {
	e := c.BaseRun.Environment(ch.Env)
	return !c.Interleaved && ch.Absolute() && e != nil && e.Baseline != ""
}

func put(c *compare.Changes, gated []*compare.Change, limits []float64, t Thresholds) {
	family := lists.Map(gated, func(ch *compare.Change) sample.Sample { return ch.Sample })
	looks, share := c.Looks(), c.Share()
	by := sample.TestOf(family, sample.MinT, sample.Alpha*share)
	p := make([]float64, len(gated))
	for i, ch := range gated {
		p[i] = math.NaN()
		if ch.Sample.Blocks() >= sample.MinT {
			p[i] = beyond(ch, limits[i], by)
		}
	}
	holm := stats.Holm(p)
	g := &compare.Gate{State: compare.Passed, Gated: len(gated), Tested: sample.Tested(p), Test: sample.TestName(c.Interleaved, by.Ranks), FailAbove: t.FailAbove, Level: 1 - sample.Alpha*share, Incomplete: !c.Whole(t.Looking)}
	if looks > 1 {
		g.Looks, g.Look = looks, decidedBy(c)
	}
	for i, ch := range gated {
		cell := &compare.CellGate{Threshold: limits[i]}
		if !math.IsNaN(p[i]) {
			cell.Holm = &holm[i]
		}
		cell.State, cell.Reason, cell.Ratio = answer(ch, limits[i], holm[i], share, t)
		if cell.Ratio != nil {
			cell.Finds = Finds(ch.Sample, limits[i], share, g.Tested)
		}
		ch.Gate = cell
		switch cell.State {
		case compare.GateFails:
			g.Failed++
		case compare.Inconclusive:
			g.Inconclusive++
			if ch.State != nil && cell.Ratio != nil {
				g.Machine++
			}
		}
	}
	failed, open := gateFailures(c, t)
	g.Failed += failed
	g.Inconclusive += open
	switch {
	case g.Failed > 0:
		g.State = compare.GateFails
	case g.Inconclusive > 0 || g.Incomplete:
		g.State = compare.Inconclusive
	}
	c.Gate = g
}

// beyond is the one-sided p that the true worsening is at most limit.
func beyond(ch *compare.Change, limit float64, by sample.Test) float64 {
	edge, sign := math.Log1p(limit), 1.0
	if ch.Metric.Better == record.HigherIsBetter {
		edge, sign = -edge, -1
	}
	center, _, _, _ := ch.Sample.Estimate(stats.Level)
	p := ch.Sample.P(edge, by) / 2
	if sign*(center-edge) <= 0 {
		return 1 - p
	}
	return p
}

// answer judges one cell, by the ratio that it gives, if by any.
func answer(ch *compare.Change, limit, holm, share float64, t Thresholds) (compare.State, string, *sample.Estimate) {
	switch {
	case ch.Lost && t.AllowMissing:
		return compare.Passed, "missing, which is allowed: " + ch.Missing, nil
	case ch.Lost:
		return compare.GateFails, "BASE has a value and NEW has none: " + ch.Missing, nil
	case ch.Missing != "":
		return compare.Inconclusive, ch.Missing, nil
	case ch.Method == "identical":
		return compare.Passed, "each value is the same", nil
	case ch.Absolute() && !t.Absolute:
		return compare.Inconclusive, "no baseline that both runs have cancels the machine's own change; --against none gates absolute values anyway", nil
	}
	center, in, _, ok := ch.Sample.Estimate(1 - sample.Alpha*share)
	if !ok || ch.Ratio.Lo == nil {
		return compare.Inconclusive, fmt.Sprintf("%d blocks are too few for an interval: run at least %d", ch.Sample.Blocks(), sample.MinRank), nil
	}
	edge := 1 + limit
	near, far := math.Exp(in.Lo), math.Exp(in.Hi)
	ratio := &sample.Estimate{Value: math.Exp(center)}
	if !math.IsInf(far, 0) { // JSON has no infinity
		ratio.Lo, ratio.Hi = new(near), new(far)
	}
	if ch.Metric.Better == record.HigherIsBetter {
		near, far = 1/far, 1/near
	}
	switch {
	case near > edge && holm < sample.OneSided*share:
		return compare.GateFails, fmt.Sprintf("worse by more than %s: the whole interval lies beyond", sample.Percent(limit)), ratio
	case near > edge:
		return compare.Inconclusive, fmt.Sprintf("the interval lies beyond %s, but among so many cells that may be chance: run more blocks", sample.Percent(limit)), ratio
	case far < edge:
		return compare.Passed, fmt.Sprintf("not worse by %s: the whole interval lies below", sample.Percent(limit)), ratio
	}
	if ch.State != nil {
		return compare.Inconclusive, fmt.Sprintf("%s lies inside the interval, which holds what another state of the machine may explain: more blocks would not help", sample.Percent(limit)), ratio
	}
	return compare.Inconclusive, fmt.Sprintf("%s lies inside the interval: run more blocks", sample.Percent(limit)), ratio
}
