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

// Agrees says whether the timeline and the taking away tell the same: what is gone
// from the way is within a fifth of the cost alone, or within its interval.
func (s *Step) Agrees() bool {
	if s.Observed == nil || s.Alone == nil {
		return false
	}
	gone, cost := float64(s.Observed.Gone), s.Alone
	return math.Abs(gone-cost.Value) <= Apart*math.Abs(cost.Value) || cost.Lo != nil && gone >= *cost.Lo && gone <= *cost.Hi
}
