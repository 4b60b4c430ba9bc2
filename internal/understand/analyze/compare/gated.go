package compare

import "plimsoll/internal/understand/analyze/sample"

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
	State State `json:"state"`
	// Gated counts the cells that a threshold is for, Tested those of them that
	// have a p: the gate is corrected over these, and not over the table.
	Gated        int `json:"gated"`
	Tested       int `json:"tested"`
	Failed       int `json:"failed"`
	Inconclusive int `json:"inconclusive"`
	// Machine is how many of the inconclusive ones the state of the machine leaves
	// open: more blocks would not help.
	Machine int `json:"machine,omitempty"`
	// Test names the test whose p, corrected by Holm over all tested cells,
	// must be below 2.5 % for a failure, besides the interval.
	Test string `json:"test,omitempty"`
	// FailAbove is the threshold of cells that no rule names; 0: none.
	FailAbove float64 `json:"fail_above,omitempty"`
	// Looks is at how many looks NEW could have ended, and Level the level of
	// the intervals behind the answers, which is higher for that, by the look's
	// share of the errors; Look is the one that decided, from 1.
	Looks int     `json:"looks,omitempty"`
	Look  int     `json:"look,omitempty"`
	Level float64 `json:"level"`
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
	// Ratio is NEW over BASE with the interval of Gate.Level, by which the answer
	// was given; missing where there was none.
	Ratio *sample.Estimate `json:"ratio,omitempty"`
	// Holm is the corrected one-sided p that the true worsening is below it.
	Holm *float64 `json:"holm,omitempty"`
	// Finds is the worsening, as a fraction, that a gate on as many blocks of this
	// scatter finds in nine of ten runs.
	Finds *float64 `json:"finds,omitempty"`
}

// FailureGate is the gate's answer on how many trials of a cell failed.
type FailureGate struct {
	// Allowed is the share of the cell's trials that may fail beyond BASE's.
	Allowed float64 `json:"allowed"`
	State   State   `json:"state"`
	Reason  string  `json:"reason,omitempty"` // missing where NEW has no more of them
}

// More says that a larger share of the trials failed in NEW than in BASE.
func (f *FailureChange) More() bool { return f.Extra() > 0 }

// Extra is by what share of its trials more failed in NEW.
func (f *FailureChange) Extra() float64 {
	return FailedShare(f.NewFailed, f.NewTrials) - FailedShare(f.BaseFailed, f.BaseTrials)
}

// FailedShare is the share of trials that failed, 0 where there was none.
func FailedShare(failed, trials int) float64 {
	if trials == 0 {
		return 0
	}
	return float64(failed) / float64(trials)
}

// Looks is how often NEW may have been put to its gate.
func (c *Changes) Looks() int {
	if g := c.NewRun.Run.Gate; g != nil {
		return max(1, g.Looks)
	}
	return 1
}

// Share is what part of a level the look has at which NEW is or ended: all levels are
// corrected for their number (Bonferroni), whenever it ended.
func (c *Changes) Share() float64 {
	if g := c.NewRun.Run.Gate; g != nil {
		return g.Share(c.NewRun.Run.Blocks)
	}
	return 1
}
