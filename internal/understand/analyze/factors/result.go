package factors

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Factors says what matters most: which share of the variance of a metric's
// logarithm over a matrix of environments and workload parameters comes from
// which factor, and from which two together. What blocks have in common is
// taken out, so that it is the variance within blocks.
type Factors struct {
	// Workload is the workload's name in the catalogue; Workloads are the
	// choices of its parameters that are part of the matrix.
	Workload  string        `json:"workload"`
	Workloads []string      `json:"workloads"`
	Metric    record.Metric `json:"metric"`
	// Environments are part of the matrix; Cells counts those with each
	// choice of parameters; Blocks those in which every cell has a value.
	Environments []string  `json:"environments"`
	Cells        int       `json:"cells"`
	Blocks       int       `json:"blocks"`
	LeftOut      []LeftOut `json:"left_out,omitempty"`
	// Factors are those that vary, Fixed those that do not.
	Factors []Factor          `json:"factors"`
	Fixed   map[string]string `json:"fixed,omitempty"`
	// Shares has an entry for each factor and each pair of factors, those
	// with the largest share first, then those that have none of their own.
	Shares []Share `json:"shares"`
	// Joint are the shares of factors that can only be told together.
	Joint []JointShare `json:"joint,omitempty"`
	// Pairs is what all pairs do together beyond the factors: given where some
	// pair has no share of its own.
	Pairs *sample.Estimate `json:"pairs,omitempty"`
	// Rest is between cells and of no term above: what three factors and more
	// do together, and what has no name. Noise is within one cell.
	Rest  *sample.Estimate `json:"rest,omitempty"`
	Noise *sample.Estimate `json:"noise,omitempty"`
	// Resamples of whole blocks give the intervals, drawn from Seed.
	Resamples int    `json:"resamples"`
	Seed      uint64 `json:"seed"`
	// Missing says why there are no shares, where there are none.
	Missing string `json:"missing,omitempty"`
}

// Factor is one thing that varies over the matrix.
type Factor struct {
	ID string `json:"id"`
	// Kind is "environment" or "parameter".
	Kind   string   `json:"kind"`
	Levels []string `json:"levels"`
}

// The kinds of factors.
const (
	OfEnvironment = "environment"
	OfWorkload    = "parameter"
)

// LeftOut is a cell that is not part of the matrix.
type LeftOut struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
	Reason   string `json:"reason"`
}

// Separable says how well a share can be told from those of other factors.
type Separable string

// The three answers.
const (
	// Separate: the same share whatever is counted first.
	Separate Separable = "separate"
	// Range: the share depends on what is counted first; it is between Share
	// and Alone.
	Range Separable = "range"
	// Confounded: the plan varies it only together with others.
	Confounded Separable = "confounded"
)

// Share is the share of one factor (With is empty) or of what two do
// together beyond what each does.
type Share struct {
	Factor string `json:"factor"`
	With   string `json:"with,omitempty"`
	DF     int    `json:"df"`
	// Separable says what Share means. Confounded factors have none.
	Separable Separable `json:"separable"`
	// Share is ω² of what the factor adds to all others of its kind, 0 to 1;
	// Alone that of what it explains with nothing else in the model. In a
	// balanced plan they are the same.
	Share *sample.Estimate `json:"share,omitempty"`
	Alone float64          `json:"alone"`
	// Partial is partial ω²: of the variance that no other term explains.
	Partial float64 `json:"partial"`
	// Among are the factors that a confounded one can't be told from, where
	// they can be named.
	Among []string `json:"among,omitempty"`
}

// JointShare is of the main effects of several factors together.
type JointShare struct {
	Factors []string         `json:"factors"`
	Share   *sample.Estimate `json:"share"`
}
