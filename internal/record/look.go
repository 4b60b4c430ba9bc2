package record

import (
	"math"
	"time"
)

// The rules of Look.
const (
	RuleUntil  = "until"  // the width of intervals
	RuleGate   = "gate"   // a gate's answers
	RuleClaims = "claims" // whether claims are decided
	RuleBisect = "bisect" // on which side of the middle a commit lies
	RuleTime   = "time"   // the time is up
)

// Look is what was decided between two blocks: who leaves, and whether the run
// ends. A resumed run takes it from here.
type Look struct {
	Rule string `json:"rule"`
	// Blocks is how many counted blocks were done.
	Blocks int       `json:"blocks"`
	At     time.Time `json:"at"`
	// Asked is how many cells (of RuleClaims: claims) there was something to ask
	// of since the run began, Settled how many of them are settled by now.
	Asked   int `json:"asked"`
	Settled int `json:"settled"`
	// Cells are those that take part no more from here on, and those still open.
	Cells []LookCell `json:"cells,omitempty"`
	// Claims are those that are not decided, of RuleClaims.
	Claims []LookClaim `json:"claims,omitempty"`
	// Ended says that the run ends here, and Why.
	Ended bool   `json:"ended,omitempty"`
	Why   string `json:"why,omitempty"`
}

// LookCell is what a look found of one workload in one environment.
type LookCell struct {
	Env      string `json:"env"`
	Workload string `json:"workload"`
	// Metric is the one whose interval is the widest, Against the environment
	// of its ratio.
	Metric  string `json:"metric,omitempty"`
	Against string `json:"against,omitempty"`
	// HalfWidth is that of the interval of the ratio, as a fraction: 0.02 is
	// 2 %. It is absent where there is no interval.
	HalfWidth *float64 `json:"half_width,omitempty"`
	// Left: it takes no part in later blocks.
	Left bool   `json:"left,omitempty"`
	Why  string `json:"why,omitempty"`
}

// LookClaim is a claim that a look did not find decided.
type LookClaim struct {
	ID string `json:"id"`
	// Open: further blocks are measured for it. Else Why says what they would
	// not change.
	Open bool   `json:"open,omitempty"`
	Why  string `json:"why,omitempty"`
}

// Gate is what a run was gated by while it went on.
type Gate struct {
	// Base is the directory of the run that it is held against, BaseRun that
	// run's id. With Envs the run is its own BASE: the first environment.
	Base    string   `json:"base,omitempty"`
	BaseRun string   `json:"base_run,omitempty"`
	Envs    []string `json:"envs,omitempty"`
	// Looks is for how many looks the levels were corrected.
	Looks int `json:"looks"`
	// Budget: the looks were chosen by what fits into the run's time budget, once
	// its first blocks told. At are the numbers of blocks after which it was looked,
	// but for the last look, which is when the time is up.
	Budget bool  `json:"budget,omitempty"`
	At     []int `json:"at,omitempty"`
	// Shares are the parts of the level that the looks have, that of the last one last.
	// Where there are none all have the same.
	Shares []float64 `json:"shares,omitempty"`

	FailAbove float64 `json:"fail_above,omitempty"`
	// AllowFailures is the share of a cell's trials that may fail beyond BASE's;
	// nil: the gate's own, 0.05.
	AllowFailures *float64   `json:"allow_failures,omitempty"`
	Rules         []GateRule `json:"rules,omitempty"`
	AllowMissing  bool       `json:"allow_missing,omitempty"`
	Unlike        bool       `json:"unlike,omitempty"`
	Strict        bool       `json:"strict,omitempty"`
}

// Share is what part of the level the look has that comes after so many blocks. Where
// the time was up early, the last look has that of the one whose turn it was.
func (g *Gate) Share(blocks int) float64 {
	n := max(1, g.Looks)
	sum, least := 0.0, math.Inf(1)
	for _, s := range g.Shares {
		sum, least = sum+s, min(least, s)
	}
	const rounding = 1e-9
	if len(g.Shares) != n || len(g.At) != n-1 || !(least > 0 && sum <= 1+rounding) {
		return 1 / float64(n)
	}
	for i, at := range g.At {
		if blocks <= at {
			return g.Shares[i]
		}
	}
	return g.Shares[n-1]
}

// GateRule is a threshold for some cells. An empty pattern matches all; *
// stands for any characters.
type GateRule struct {
	Where       string  `json:"where,omitempty"` // file:line:column, for messages
	Environment string  `json:"environment,omitempty"`
	Workload    string  `json:"workload,omitempty"`
	Metric      string  `json:"metric,omitempty"`
	FailAbove   float64 `json:"fail_above,omitempty"`
	Ignore      bool    `json:"ignore,omitempty"` // not gated
}
