package advise

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Schema is the version of Advice as JSON. It grows when a field changes its
// meaning or goes away.
const Schema = 1

// Advice is all that can be said of one use from some runs.
type Advice struct {
	Schema  int      `json:"schema"`
	Profile Profile  `json:"profile"`
	Runs    []Source `json:"runs"`
	// Features says whose feature table was used, if any.
	Features *Table    `json:"features,omitempty"`
	Criteria []Column  `json:"criteria"`
	Verdict  Verdict   `json:"verdict"`
	Ranked   []Ranked  `json:"ranked"`
	Pairs    []Pair    `json:"pairs"`
	Apart    []Apart   `json:"apart"`
	Refused  []Refused `json:"refused"`
	// Sensitivity is missing where fewer than two are ranked.
	Sensitivity *Sensitivity    `json:"sensitivity,omitempty"`
	Remarks     []record.Remark `json:"remarks"`
	// Savings are what the engines that are ranked can do without, by runs in which
	// it was taken away.
	Savings []Saving `json:"savings,omitempty"`
	// Additions are what they can also do, by the same runs.
	Additions []Addition `json:"additions,omitempty"`

	draws int
}

// Saving is a mechanism that an engine can do without.
type Saving struct {
	Engine    string `json:"engine"`
	Mechanism string `json:"mechanism"`
	Title     string `json:"title"`
	Price     string `json:"price"` // what its user gives up
	// Saves is what it costs while all else is there (but for Given), in the unit of
	// Metric; Base what the engine takes with everything.
	Saves  sample.Estimate `json:"saves"`
	Base   float64         `json:"base"`
	Given  string          `json:"given,omitempty"`
	Metric record.Metric   `json:"metric"`
	Run    string          `json:"run"`
}

// Addition is a mechanism that an engine can also do, and does not by itself.
type Addition struct {
	Engine    string `json:"engine"`
	Mechanism string `json:"mechanism"`
	Title     string `json:"title"`
	Gives     string `json:"gives"` // what its user gets
	// Costs is what the engine takes more with it, or a rate is less, in the unit of
	// Metric; Base what it takes with everything that it does by itself.
	Costs  sample.Estimate `json:"costs"`
	Base   float64         `json:"base"`
	Metric record.Metric   `json:"metric"`
	Run    string          `json:"run"`
}

// Source names a run that was read.
type Source struct {
	ID      string      `json:"id"`
	Study   string      `json:"study"`
	Started time.Time   `json:"started"`
	Blocks  int         `json:"blocks"`
	Host    record.Host `json:"host"`
	Repeat  string      `json:"repeat,omitempty"`
}

// Table names a feature table.
type Table struct {
	Tool string `json:"tool"`
	Host string `json:"host"`
}

// Column is a criterion as the runs have it. A criterion that several choices
// of a workload's parameters match has a column for each, with an equal part
// of its weight.
type Column struct {
	Workload string           `json:"workload"` // the id in the run, else the name
	Name     string           `json:"name"`     // of the workload, without its parameters
	Metric   record.Metric    `json:"metric"`
	Better   record.Direction `json:"better"`
	Weight   float64          `json:"weight"`
	// Share is the weight's of all criteria that are measured; 0 where it is not.
	Share float64 `json:"share"`
	Why   string  `json:"why"`
	Run   string  `json:"run,omitempty"` // the id of the run that it is from
	// Reference is the baseline of the ratios; "mean" is the geometric mean of
	// the environments that may be chosen, where no baseline has a value.
	Reference string `json:"reference,omitempty"`
	// Missing says why nobody has a value; Command would measure it.
	Missing string `json:"missing,omitempty"`
	Command string `json:"command,omitempty"`
}

// MeanReference is the Reference where no baseline has a value.
const MeanReference = "mean"

// State is an answer to whether an environment has a property.
type State string

// The answers. What is half there is no.
const (
	Yes     State = "yes"
	No      State = "no"
	Unknown State = "unknown"
)

// Answer is the answer to one demand, with what it rests on.
type Answer struct {
	Is    []string `json:"is"`
	State State    `json:"state"`
	Why   string   `json:"why"` // why the use asks
	Facts []Fact   `json:"facts"`
}

// Fact is one thing that is known, and where to look it up.
type Fact struct {
	Property string `json:"property"`
	State    State  `json:"state"`
	// From is where it comes from: fromFacts, fromInside or fromFeatures.
	From string `json:"from"`
	Text string `json:"text"`
	// Source is the file and the place in it.
	Source string `json:"source"`
}

// Where a Fact comes from.
const (
	fromFacts    = "fact"     // what the engine says of the environment
	fromInside   = "inside"   // what the payload saw
	fromFeatures = "features" // what was found by trying the engine
)

// Ranked is an environment that has everything.
type Ranked struct {
	Env    string `json:"env"`
	Engine string `json:"engine"`
	// Score is the weighted geometric mean of how many times worse than the
	// references it is: lower is better.
	Score sample.Estimate `json:"score"`
	// Blocks is the least number of blocks behind a criterion.
	Blocks int `json:"blocks"`
	// Group holds its letters: environments that share one cannot be told apart.
	Group string `json:"group"`
	// Front: nothing ranked is surely as good in every criterion and better in
	// one. DominatedBy names those that are.
	Front       bool          `json:"front"`
	DominatedBy []string      `json:"dominated_by,omitempty"`
	Measured    []Measurement `json:"measured"` // by criterion, unmeasured ones left out
	Require     []Answer      `json:"require"`
	Prefer      []Answer      `json:"prefer"`
}

// Stand is which way a measurement speaks.
type Stand string

// The three stands.
const (
	For     Stand = "for"     // not surely worse than any that is ranked
	Against Stand = "against" // not surely better than any
	Neutral Stand = "neutral" // between, or where none can be told apart
)

// Measurement is one criterion of one environment.
type Measurement struct {
	Criterion int             `json:"criterion"` // its place in Criteria
	Median    sample.Estimate `json:"median"`
	N         int             `json:"n"`
	Failed    int             `json:"failed"`
	// Ratio is to the reference, as in a report; missing where that is a mean.
	Ratio *sample.Estimate `json:"ratio,omitempty"`
	// Cost is by what it multiplies the score: its ratio, in terms of worse,
	// to the power of the criterion's share.
	Cost  float64 `json:"cost"`
	Stand Stand   `json:"stand"`
	// Best names the best of those ranked, Worse says how many times worse.
	Best  string           `json:"best"`
	Worse *sample.Estimate `json:"worse,omitempty"`
}

// Pair compares two of the ranking: the score of A over that of B.
type Pair struct {
	A     string          `json:"a"`
	B     string          `json:"b"`
	Ratio sample.Estimate `json:"ratio"`
	P     *float64        `json:"p,omitempty"`
	Holm  *float64        `json:"holm,omitempty"` // corrected for all pairs
	// BlocksNeeded is about how many blocks would tell them apart; 0 where they
	// are apart, or no number of practical use would.
	BlocksNeeded int `json:"blocks_needed,omitempty"`
}

// Apart is an environment without data for some criterion.
type Apart struct {
	Env     string    `json:"env"`
	Engine  string    `json:"engine"`
	Lacks   []Lack    `json:"lacks"`
	Require []Answer  `json:"require"`
	Known   []Measure `json:"known,omitempty"`
}

// Measure is what is known of an environment all the same.
type Measure struct {
	Criterion int             `json:"criterion"`
	Median    sample.Estimate `json:"median"`
	N         int             `json:"n"`
}

// Lack is a criterion without data.
type Lack struct {
	Workload string `json:"workload,omitempty"` // empty: the environment did not run at all
	Metric   string `json:"metric,omitempty"`
	Reason   string `json:"reason"`
	// Command would give the data; empty where no run would.
	Command string `json:"command,omitempty"`
}

// Refused is an environment that lacks what the use cannot do without, or of
// which that is not known.
type Refused struct {
	Env     string   `json:"env"`
	Engine  string   `json:"engine"`
	Require []Answer `json:"require"` // those that are not yes
}
