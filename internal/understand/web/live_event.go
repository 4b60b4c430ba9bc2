package web

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Live is where a run stands: what an event says. In all but the first event
// the cells are those that have changed.
type Live struct {
	Schema   int  `json:"schema"`
	Revision int  `json:"revision"`
	Whole    bool `json:"whole"` // all cells are in it
	// Status is running, done or interrupted; Killed: it says that it is
	// running, and nobody writes it.
	Status string `json:"status"`
	Killed bool   `json:"killed,omitempty"`
	// Done of Total trials; Total is 0 where the plan is not known. AtMost: it
	// may turn out less.
	Done   int  `json:"done"`
	Total  int  `json:"total"`
	AtMost bool `json:"at_most,omitempty"`
	Failed int  `json:"failed"`
	// LeftNS is an estimate from what each cell took so far; 0 is not known.
	LeftNS int64 `json:"left_ns"`
	// Now is the trial that runs, or is the next one.
	Now *Upcoming `json:"now,omitempty"`
	// Last is when the last trial that is recorded began.
	Last  time.Time  `json:"last,omitzero"`
	Cells []LiveCell `json:"cells"`
	Host  *Load      `json:"host,omitempty"`
	// Charts says that the data of the page can be had anew.
	Charts bool `json:"charts"`
	// Problem says why nothing more can be read.
	Problem string `json:"problem,omitempty"`
}

// LiveSchema is the version of Live as JSON.
const LiveSchema = 1

// Upcoming is a trial that is not recorded yet.
type Upcoming struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
	// Block counts from 1, those that warm up apart.
	Block  int  `json:"block"`
	Blocks int  `json:"blocks"`
	Warmup bool `json:"warmup,omitempty"`
}

// LiveCell is one workload in one environment.
type LiveCell struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
	Done     int    `json:"done"`
	Planned  int    `json:"planned"` // 0: not known
	Failed   int    `json:"failed"`
	// Metric is the one that is shown, N how many values it has, Median theirs.
	Metric record.Metric    `json:"metric"`
	N      int              `json:"n"`
	Median *sample.Estimate `json:"median,omitempty"`
	// Course is how the median narrowed down so far, in a whole event only.
	Course []Mark `json:"course,omitempty"`
}

// Mark is a median after so many values.
type Mark struct {
	N      int              `json:"n"`
	Median *sample.Estimate `json:"median"`
}
