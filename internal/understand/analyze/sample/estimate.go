package sample

import "plimsoll/internal/common/stats"

// Estimate is a number with its 95 % interval. Lo and Hi are missing where
// the values cannot carry one.
type Estimate struct {
	Value float64  `json:"value"`
	Lo    *float64 `json:"lo,omitempty"`
	Hi    *float64 `json:"hi,omitempty"`
}

// NewEstimate is of a value and its interval, where ok says that there is one.
func NewEstimate(v float64, i stats.Interval, ok bool) *Estimate {
	e := &Estimate{Value: v}
	if ok {
		e.Lo, e.Hi = &i.Lo, &i.Hi
	}
	return e
}
