// Package advise says which environment suits a use, and how far the data
// carry that.
//
// It is opinionated. A use is a list of criteria with weights, which are
// data and can be disputed, and of properties that it cannot do without.
// What is scored are ratios, on the logarithm: half of the time is worth as
// much whether it is a microsecond or a minute. Features have no unit and are
// never weighed: they bar an environment, or are listed for and against it.
// What is not known bars it as what is known to be missing does. There is no
// first place without data for every criterion, nor among those that cannot
// be told apart.
//
// Why it is so: docs/decisions/advice.md.
package advise

import "plimsoll/internal/record"

// Profile is a use: what counts in it, how much, and why.
type Profile struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	What  string `json:"what,omitempty"`
	// Study measures all criteria; empty where there is none.
	Study string `json:"study,omitempty"`
	// Matters is the smallest relative difference that this use cares about;
	// 0 is defaultMatters.
	Matters  float64     `json:"matters"`
	Criteria []Criterion `json:"criteria"`
	// Require are hard constraints; Prefer are listed for and against.
	Require []Demand `json:"require,omitempty"`
	Prefer  []Demand `json:"prefer,omitempty"`
}

// defaultMatters is the difference from which a use cares, where its profile
// says nothing.
const defaultMatters = 0.05

// Criterion is one metric of one workload.
type Criterion struct {
	// Workload is a name in the catalogue or an id of a run; Params are the
	// levels that its parameters may have, those not named any.
	Workload string              `json:"workload"`
	Params   map[string][]string `json:"params,omitempty"`
	Metric   string              `json:"metric"`
	Better   record.Direction    `json:"better"`
	// Weight is above 0 or, where it was taken away, 0. Weights are exponents:
	// with 2 beside 1, to halve this is worth as much as to quarter that.
	Weight float64 `json:"weight"`
	Why    string  `json:"why"`
	// Where is the place in a file, for messages.
	Where string `json:"-"`
}

// Demand is a property, or several of which one is enough.
type Demand struct {
	Is  []string `json:"is"`
	Why string   `json:"why"`
	// Where is the place in a file, for messages.
	Where string `json:"-"`
}

// Options are for Run.
type Options struct {
	// Known are the workloads that there are beside those of the runs, with
	// the ids of their metrics: whatever is in neither is a mistake.
	Known map[string][]string
	// Draws is the number of random weights; 0 takes 10 000.
	Draws int
}

// UnknownError is a word of a profile that nobody knows.
type UnknownError struct {
	Where, What, Word string
	Known             []string
}

// Error names the words that there are, with the place.
func (e *UnknownError) Error() string {
	s := "no " + e.What + " \"" + e.Word + "\": there is " + list(e.Known, 30)
	if e.Where != "" {
		return e.Where + ": " + s
	}
	return s
}
