package analyze

import (
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/record"
	"plimsoll/internal/stats"
)

// Thresholds say what a gate lets pass.
type Thresholds struct {
	// FailAbove is the relative worsening that is let pass, 0.05 for 5 %; 0
	// gates only what a rule names.
	FailAbove float64
	// Rules are tried in order; the last one that matches a cell decides.
	Rules []Rule
	// AllowMissing lets cells pass that BASE has and NEW has not.
	AllowMissing bool
	// Unlike gates in spite of another machine or protocol.
	Unlike bool
	// Absolute gates absolute values of two sessions.
	Absolute bool
	// Noise is the noise floor of this machine by environment, as a self-test
	// found it; "" stands for the others.
	Noise map[string]float64
}

// Rule is a threshold for some cells. An empty pattern matches all; * stands
// for any characters.
type Rule struct {
	Where                         string // file:line:column, for messages
	Environment, Workload, Metric string
	FailAbove                     float64
	Ignore                        bool // not gated
}

func (r *Rule) matches(c *Change) bool {
	ok := func(pattern, name string) bool { return pattern == "" || glob(pattern, name) }
	return ok(r.Workload, c.Workload) && ok(r.Metric, c.Metric.ID) && (ok(r.Environment, c.Env) || c.NewEnv != "" && ok(r.Environment, c.NewEnv))
}

// State is a gate's answer.
type State string

// The three answers of a gate.
const (
	Passed       State = "pass"
	GateFails    State = "fail"
	Inconclusive State = "inconclusive"
)

// Gate sums the gated cells up.
type Gate struct {
	State        State `json:"state"`
	Gated        int   `json:"gated"`
	Failed       int   `json:"failed"`
	Inconclusive int   `json:"inconclusive"`
	// Test names the test whose p, corrected by Holm over all gated cells,
	// must be below 2.5 % for a failure, besides the interval.
	Test string `json:"test,omitempty"`
	// FailAbove is the threshold of cells that no rule names; 0: none.
	FailAbove float64 `json:"fail_above,omitempty"`
	// Incomplete: a run is not whole. What it lacks may be what would have
	// failed, so that the gate cannot pass.
	Incomplete bool `json:"incomplete,omitempty"`
}

// CellGate is the gate's answer on one cell.
type CellGate struct {
	// Threshold is the relative worsening that is let pass. For metrics that are
	// better the higher, a worsening of 5 % is a ratio of 1/1.05.
	Threshold float64 `json:"threshold"`
	State     State   `json:"state"`
	Reason    string  `json:"reason"`
	// Holm is the corrected one-sided p that the true worsening is below it.
	Holm *float64 `json:"holm,omitempty"`
}

// oneSided is the chance of any false failure in the gate.
const oneSided = alpha / 2

// RefusedError says that a gate would say nothing, whatever the values.
type RefusedError struct{ Why, Advice string }

// Error is the reason.
func (e *RefusedError) Error() string { return e.Why }

// Judge puts the gate to each cell that a threshold is for. A cell fails where
// the bound of its interval lies beyond the threshold, and the test of that
// against all the other gated cells, too; it passes where the other bound lies
// below the threshold.
func (c *Changes) Judge(t Thresholds) error {
	if bars := c.Barred(); len(bars) > 0 && !t.Unlike {
		return &RefusedError{"the gate is refused: BASE and NEW were not measured alike (" + strings.Join(bars, "; ") + ")",
			"measure BASE anew; --unlike gates all the same"}
	}
	used := make([]bool, len(t.Rules))
	var gated []*Change
	var limits []float64
	for i := range c.Cells {
		ch := &c.Cells[i]
		limit := t.FailAbove
		for k := range t.Rules {
			if r := &t.Rules[k]; r.matches(ch) {
				limit, used[k] = r.FailAbove, true
				if r.Ignore {
					limit = 0
				}
			}
		}
		if limit > 0 && ch.Base != nil && !c.onlyYardstick(ch) {
			gated, limits = append(gated, ch), append(limits, limit)
		}
	}
	for k := range t.Rules {
		if !used[k] {
			return &RefusedError{t.Rules[k].Where + ": this rule matches no cell of the comparison",
				"plimsoll compare without a gate lists environments, workloads and metrics; a metric that only sampling gives must be named"}
		}
	}
	if len(gated) == 0 {
		return &RefusedError{"the gate is refused: no cell has a threshold, so that it would always pass", "give --fail-above, or rules that match"}
	}
	if err := c.underNoise(gated, limits, t.Noise); err != nil {
		return err
	}
	c.put(gated, limits, t)
	return nil
}

// onlyYardstick says that a cell is of the baseline itself, which nothing
// beside it can be held against.
func (c *Changes) onlyYardstick(ch *Change) bool {
	e := c.base.environment(ch.Env)
	return !c.Interleaved && ch.Absolute() && e != nil && e.Baseline != ""
}

func (c *Changes) put(gated []*Change, limits []float64, t Thresholds) {
	var family []sample
	for _, ch := range gated {
		family = append(family, ch.sample)
	}
	ranks := ranked(family, alpha)
	p := make([]float64, len(gated))
	for i, ch := range gated {
		p[i] = math.NaN()
		if ch.sample.blocks() >= minT {
			p[i] = beyond(ch, limits[i], ranks)
		}
	}
	holm := stats.Holm(p)
	g := &Gate{State: Passed, Gated: len(gated), Test: testName(c.Interleaved, ranks), FailAbove: t.FailAbove, Incomplete: !c.whole()}
	for i, ch := range gated {
		cell := &CellGate{Threshold: limits[i]}
		if !math.IsNaN(p[i]) {
			cell.Holm = &holm[i]
		}
		cell.State, cell.Reason = answer(ch, limits[i], holm[i], t)
		ch.Gate = cell
		switch cell.State {
		case GateFails:
			g.Failed++
		case Inconclusive:
			g.Inconclusive++
		}
	}
	for _, f := range c.Failures {
		if f.Worse {
			g.Failed++
		}
	}
	switch {
	case g.Failed > 0:
		g.State = GateFails
	case g.Inconclusive > 0 || g.Incomplete:
		g.State = Inconclusive
	}
	c.Gate = g
}

// beyond is the one-sided p that the true worsening is at most limit.
func beyond(ch *Change, limit float64, ranks bool) float64 {
	edge, sign := math.Log1p(limit), 1.0
	if ch.Metric.Better == record.HigherIsBetter {
		edge, sign = -edge, -1
	}
	center, _, _, _ := ch.sample.estimate()
	p := ch.sample.p(edge, ranks) / 2
	if sign*(center-edge) <= 0 {
		return 1 - p
	}
	return p
}

// answer judges one cell.
func answer(ch *Change, limit, holm float64, t Thresholds) (State, string) {
	switch {
	case ch.Lost && t.AllowMissing:
		return Passed, "missing, which is allowed: " + ch.Missing
	case ch.Lost:
		return GateFails, "BASE has a value and NEW has none: " + ch.Missing
	case ch.Missing != "":
		return Inconclusive, ch.Missing
	case ch.Method == "identical":
		return Passed, "each value is the same"
	case ch.Absolute() && !t.Absolute:
		return Inconclusive, "no baseline that both runs have takes the machine's own change out of it; --against none gates absolute values all the same"
	case ch.Ratio.Lo == nil:
		return Inconclusive, fmt.Sprintf("%d blocks are too few for an interval: run at least %d", ch.sample.blocks(), minRank)
	}
	edge := 1 + limit
	near, far := *ch.Ratio.Lo, *ch.Ratio.Hi
	if ch.Metric.Better == record.HigherIsBetter {
		near, far = 1/far, 1/near
	}
	switch {
	case near > edge && holm < oneSided:
		return GateFails, fmt.Sprintf("worse by more than %s: the whole interval lies beyond", percent(limit))
	case near > edge:
		return Inconclusive, fmt.Sprintf("the interval lies beyond %s, but among so many cells that may be chance: run more blocks", percent(limit))
	case far < edge:
		return Passed, fmt.Sprintf("not worse by %s: the whole interval lies below", percent(limit))
	}
	return Inconclusive, fmt.Sprintf("%s lies inside the interval: run more blocks", percent(limit))
}

func percent(f float64) string { return fmt.Sprintf("%.3g %%", 100*f) }
