// Package history finds changes of level over many runs of one study on one
// machine.
//
// Why it is so: docs/decisions/comparing.md.
package history

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/sample"
)

// schema is the version of Histories as JSON, as Schema is of Result.
const schema = 1

// Histories is what many runs say of change: pure data, in a fixed order. Runs
// that differ in what decides how fast things are, or in their study, form
// separate histories.
type Histories struct {
	Schema int `json:"schema"`
	// Threshold is the smallest relative change that is reported.
	Threshold float64 `json:"threshold"`
	// Method finds the changes, Alpha is the chance of a false one in all
	// series together (by Correction), Permutations their number, from Seed.
	Method       string  `json:"method"`
	Correction   string  `json:"correction"`
	Alpha        float64 `json:"alpha"`
	Permutations int     `json:"permutations"`
	Seed         uint64  `json:"seed"`
	// Skipped are the directories that are in no history, with the reason.
	Skipped   []SkippedRun `json:"skipped"`
	Histories []History    `json:"histories"`
	Gate      *Gate        `json:"gate,omitempty"`
}

// SkippedRun is a directory that is in no history.
type SkippedRun struct {
	Dir    string `json:"dir"`
	Reason string `json:"reason"`
}

// History is the runs of one study on one machine, the oldest first.
type History struct {
	Study   string          `json:"study"`
	Machine string          `json:"machine"`
	Runs    []PastRun       `json:"runs"`
	Series  []Series        `json:"series"`
	Changes []Change        `json:"changes"`
	Remarks []record.Remark `json:"remarks"`

	results []*analyze.Result
}

// PastRun is a run of a history.
type PastRun struct {
	Dir     string    `json:"dir"`
	Run     string    `json:"run"`
	Status  string    `json:"status"`
	Started time.Time `json:"started"`
	Tool    string    `json:"tool"`
	Blocks  int       `json:"blocks"`
}

// Series is one metric of one workload in one environment over the runs.
type Series struct {
	Workload string            `json:"workload"`
	Metric   record.Metric     `json:"metric"`
	Env      string            `json:"env"`
	Engine   string            `json:"engine"`
	Levels   map[string]string `json:"levels,omitempty"`
	// Against is the baseline by which each value was divided in its own block,
	// AgainstMetric its metric. Empty: absolute values, in the metric's unit.
	Against       string `json:"against,omitempty"`
	AgainstMetric string `json:"against_metric,omitempty"`
	// Points has an entry for each run.
	Points []Point `json:"points"`
	// Regimes are the stretches of runs between the changes.
	Regimes []Regime `json:"regimes"`
	// Short says that too few runs have a value for any change to be found.
	Short bool `json:"short,omitempty"`

	logs []float64 // by run, NaN where it has no value
}

// Point is the value of a series in one run, with the 95 % interval that the
// run's own blocks give it, or the reason why there is none.
type Point struct {
	*sample.Estimate
	Missing string `json:"missing,omitempty"`
}

// Regime is a stretch of runs without a change. First and Last are indices of
// History.Runs.
type Regime struct {
	First int `json:"first"`
	Last  int `json:"last"`
	// Runs have a value; Level is their Hodges-Lehmann estimate, on logarithms,
	// with its 95 % interval where there are 6 of them.
	Runs  int             `json:"runs"`
	Level sample.Estimate `json:"level"`
}

// Change is a change of level in one series.
type Change struct {
	// Series is the index in History.Series.
	Series int `json:"series"`
	// Before is the last run of the old level, After the first of the new one:
	// indices of History.Runs.
	Before int `json:"before"`
	After  int `json:"after"`
	// Confirmed: the next run has the new level, too. An unconfirmed change is
	// of the last run alone, told by Student's prediction interval.
	Confirmed bool `json:"confirmed"`
	// Ratio is the new level over the old one with its 95 % interval, by runs.
	Ratio sample.Estimate `json:"ratio"`
	// Method is "hodges-lehmann", or "t" where fewer than 6 runs stand on one
	// side.
	Method    string            `json:"method"`
	Direction compare.Direction `json:"direction"` // Better or Worse
	// P is corrected for all series of the report.
	P float64 `json:"p"`
	// Standing: no later change of the series has followed.
	Standing bool `json:"standing"`
	// Facts are what differs between the two runs, as far as it is of this
	// environment, its baseline or all.
	Facts []compare.Fact `json:"facts"`
	// Steps are the parts of a duration, with how much longer each takes in After than
	// in Before.
	Steps []compare.Part `json:"steps,omitempty"`
}

// Gate is the answer of a gate on change.
type Gate struct {
	State   compare.State `json:"state"`
	Reasons []string      `json:"reasons"`
}
