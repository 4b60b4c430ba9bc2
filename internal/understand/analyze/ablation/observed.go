package ablation

import "math"

// Observed is what traced starts say of a mechanism, times in ns.
type Observed struct {
	// Starts are how many of each were traced.
	Starts int `json:"starts"`
	// With and Without are what they took.
	With    int64 `json:"with_ns"`
	Without int64 `json:"without_ns"`
	// Gone is the time of what was waited for with it and hardly without it, less that
	// of what came in its place; Else is what other steps take less without it (more,
	// where negative).
	Gone int64 `json:"gone_ns"`
	Else int64 `json:"else_ns"`
	// Steps are those that differ the most.
	Steps []ObservedStep `json:"steps,omitempty"`
}

// ObservedStep is what was waited for, and how long.
type ObservedStep struct {
	Name    string `json:"name"`
	With    int64  `json:"with_ns"`
	Without int64  `json:"without_ns"`
}

// Apart is the share of a cost by which the timeline may differ from it.
const Apart = 0.2

// Gone says whether the step is on the way with it and hardly without, or the other way
// about.
func (s *ObservedStep) Gone() bool {
	return float64(min(s.With, s.Without)) < hardly*float64(max(s.With, s.Without))
}

// hardly is the part of its time below which a step counts as gone, as for the timeline's
// own sums.
const hardly = 0.1

// Verdict is how the timeline and the taking away go together.
type Verdict string

const (
	// Same is where what is gone from the way is what was found by taking away.
	Same Verdict = "same"
	// Elsewhere is where the traced starts differ by what was found by taking away, a part
	// of it in steps that are there without the mechanism too.
	Elsewhere Verdict = "elsewhere"
	// Open is where the traced starts differ by something else.
	Open Verdict = "open"
)

// Verdict says whether the two tell the same of a mechanism, "" where not both are there.
func (s *Step) Verdict() Verdict {
	switch o := s.Observed; {
	case o == nil || s.Alone == nil:
		return ""
	case s.near(o.Gone):
		return Same
	case s.near(o.Gone + o.Else):
		return Elsewhere
	}
	return Open
}

// near says whether a time is within a fifth of the cost alone, or within its interval.
func (s *Step) near(ns int64) bool {
	t, cost := float64(ns), s.Alone
	return math.Abs(t-cost.Value) <= Apart*math.Abs(cost.Value) || cost.Lo != nil && t >= *cost.Lo && t <= *cost.Hi
}
