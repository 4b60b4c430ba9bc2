// Package hosts says what runs of one study on several hosts say together. A host
// is a random factor above blocks: what is asked of these machines is answered by
// blocks, host by host, and what is asked of machines in general by hosts.
//
// It is opinionated. Times of two machines stand side by side and are never divided:
// only ratios that were formed inside a host are summarised. Below five hosts there
// is no pooled interval, since four say next to nothing of the spread between them.
//
// Why it is so: docs/decisions/statistics.md.
package hosts

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// schema is the version of Hosts as JSON.
const schema = 1

// Hosts is all that runs on several hosts say together: pure data, in a fixed order.
type Hosts struct {
	Schema int    `json:"schema"`
	Study  string `json:"study"`
	Title  string `json:"title,omitempty"`
	// Source names published data, where nothing was measured by us.
	Source string `json:"source,omitempty"`
	Hosts  []Host `json:"hosts"`
	// Delta is the smallest relative difference that matters.
	Delta float64 `json:"delta"`
	// Pools says whether there are enough hosts for pooled intervals, WhyNot why not.
	Pools  bool            `json:"pools"`
	WhyNot string          `json:"why_not,omitempty"`
	Tables []Table         `json:"tables"`
	Remark []record.Remark `json:"remarks"`
}

// Host is one machine with its runs.
type Host struct {
	// Label names it in every table: its name, with a number where two have one name.
	Label   string      `json:"label"`
	Machine record.Host `json:"machine"`
	Runs    []Run       `json:"runs"`
	// Blocks, Trials and Failed are of all its runs.
	Blocks int `json:"blocks"`
	Trials int `json:"trials"`
	Failed int `json:"failed"`
}

// Run is one run of a host.
type Run struct {
	ID     string `json:"id"`
	Dir    string `json:"dir"`
	Status string `json:"status"`
}

// Table is one metric of one workload over all hosts.
type Table struct {
	Workload string        `json:"workload"`
	Title    string        `json:"title,omitempty"`
	Metric   record.Metric `json:"metric"`
	// Rows compare environments with what they are held against.
	Rows []Row `json:"rows"`
	// Times are the medians of each environment, the hosts side by side.
	Times []Times `json:"times"`
	// Spread is nil where fewer than two hosts have two environments in common.
	Spread *Spread `json:"spread,omitempty"`
}

// Medians are all that there are, by which a table's unit is chosen.
func (t *Table) Medians() (values []float64) {
	for _, x := range t.Times {
		for _, m := range x.Hosts {
			if m.Median != nil {
				values = append(values, m.Median.Value)
			}
		}
	}
	return values
}

// Times are one environment's medians.
type Times struct {
	Env      string `json:"env"`
	Baseline string `json:"baseline,omitempty"`
	// Hosts are in the order of Hosts.Hosts.
	Hosts []Time `json:"hosts"`
}

// Time is one median, or why there is none.
type Time struct {
	Median  *sample.Estimate `json:"median,omitempty"`
	Missing string           `json:"missing,omitempty"`
}

// Holds says where what is found of a row holds.
type Holds string

// The answers.
const (
	Everywhere Holds = "everywhere" // it differs on all hosts, and in one direction
	Alike      Holds = "alike"      // it is equal for practical purposes on all hosts
	ByHost     Holds = "by-host"    // hosts differ: on some it is so, on others not
	Open       Holds = "open"       // too little is known of some host
	Values     Holds = "values"     // there are values without intervals only
)

// Row is an environment held against another, host by host.
type Row struct {
	Env     string `json:"env"`
	Against string `json:"against"`
	// Hosts are in the order of Hosts.Hosts.
	Hosts []AtHost `json:"hosts"`
	Holds Holds    `json:"holds"`
	// Above counts the hosts on which the ratio lies above 1 by more than delta, Below
	// those on which it lies below, Equal those on which it lies between.
	Above int `json:"above"`
	Below int `json:"below"`
	Equal int `json:"equal"`
	// Differ tests whether the hosts have one ratio: the interaction of host and
	// environment. It is nil where no two hosts have an interval.
	Differ *Differ `json:"differ,omitempty"`
	// Pooled is nil below five hosts that have a value.
	Pooled *Pooled `json:"pooled,omitempty"`
}

// AtHost is a ratio on one host, from pairs of the same block. Without blocks it has
// no interval.
type AtHost struct {
	analyze.Comparison
	P    *float64 `json:"p,omitempty"`
	Holm *float64 `json:"holm,omitempty"` // over all ratios and hosts of the table
}

// Differ is the test of an interaction.
type Differ struct {
	Q    float64 `json:"q"` // Cochran's
	P    float64 `json:"p"` // Welch's, the larger of that by ranks and that by means
	Holm float64 `json:"holm"`
	// Found: Holm is below 5 %.
	Found bool `json:"found"`
}

// Pooled is the summary for machines in general.
type Pooled struct {
	Ratio sample.Estimate `json:"ratio"`
	// Next is where the ratio on one more host lies, from ten hosts of 20 blocks on.
	Next *sample.Estimate `json:"next,omitempty"`
	// Spread is the standard deviation between hosts, as a factor less one: 0.05 for
	// hosts that differ by 5 %; with an interval from 20 blocks a host on.
	Spread sample.Estimate `json:"spread"`
	I2     float64         `json:"i2"`
	Hosts  int             `json:"hosts"`
	Method string          `json:"method"`
}

// The methods of Pooled.
const (
	RandomEffects = "random-effects" // Paule & Mandel, Hartung & Knapp
	HostsAlone    = "hosts"          // Student's over the hosts' values: no blocks
)
