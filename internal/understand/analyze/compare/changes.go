// Package compare says what differs between two runs, or between two
// environments of one.
//
// Why it is so: docs/decisions/comparing.md.
package compare

import (
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// schema is the version of Changes as JSON, as Schema is of Result.
const schema = 1

// Changes is what differs between two runs, or between two environments of
// one: pure data, in a fixed order.
type Changes struct {
	Schema int  `json:"schema"`
	Base   Side `json:"base"`
	New    Side `json:"new"`
	// Command is the command of the user's own that both measured in place of a
	// study: it is their only workload.
	Command string `json:"command,omitempty"`
	// Interleaved says that both are of one run, so that pairs of one block are
	// compared. Two runs have no common block: their block medians are two
	// samples, and what moved the machine between them is taken out by what ran
	// beside them (see Cell's Against).
	Interleaved bool `json:"interleaved"`
	// Delta is the smallest relative difference that matters.
	Delta float64 `json:"delta"`
	// Test names the test behind all p of the table, and Tested counts them: the
	// verdicts are corrected over so many.
	Test   string `json:"test,omitempty"`
	Tested int    `json:"tested"`
	// Facts are the differences in machine, tool, protocol and configuration.
	Facts []Fact `json:"facts"`
	// Cells has an entry for each metric of each workload in each environment
	// that has a value on at least one side.
	Cells []Change `json:"cells"`
	// Quantiles compare a quantile of each cell that has a value on both sides,
	// where one was asked for. Their verdicts go by the interval alone, at a
	// level that is corrected for their number (Bonferroni); no gate is on them.
	Quantiles []Change `json:"quantiles,omitempty"`
	// Moved says of each duration that is better or worse which of its steps is.
	Moved []Moved `json:"moved,omitempty"`
	// Failures has an entry for each workload in each environment that failed
	// on any side.
	Failures []FailureChange `json:"failures"`
	Remarks  []record.Remark `json:"remarks"`
	Grouping *Grouping       `json:"grouping,omitempty"`
	Gate     *Gate           `json:"gate,omitempty"`

	// base and next are the results that Base and New are of.
	BaseRun *analyze.Result   `json:"-"`
	NewRun  *analyze.Result   `json:"-"`
	renamed map[string]string // environments of BASE that have another name in NEW
	unlike  map[string]bool   // environments that differ in what is known of them; "": the machine does
}

// Work is a workload for people: the words of a command of the user's own, as far as
// they are for one line, else its id.
func (c *Changes) Work(id string) string {
	const most = 60
	for _, r := range []*analyze.Result{c.BaseRun, c.NewRun} {
		if r == nil || r.Run.Command == "" || r.Workload(id) == nil {
			continue
		}
		if x := []rune(r.Run.Command); len(x) > most {
			return string(x[:most-1]) + "…"
		}
		return r.Run.Command
	}
	return id
}

// Side is one of the two that are compared.
type Side struct {
	Run     string    `json:"run"`
	Study   string    `json:"study"`
	Status  string    `json:"status"`
	Started time.Time `json:"started"`
	Tool    string    `json:"tool"`
	Machine string    `json:"machine"`
	// Env is set where two environments of one run are compared.
	Env string `json:"env,omitempty"`
	// Tuned: the run was of a machine that was set to scatter less, and not of one as
	// users have it.
	Tuned bool `json:"tuned,omitempty"`
}

// Direction says for whom a change is good.
type Direction string

// The four verdicts on a change. Better and Worse have their interval outside
// ±delta on that side, and a p, corrected by Holm over the table, below 5 %.
const (
	Same    Direction = "equal"
	Better  Direction = "better"
	Worse   Direction = "worse"
	Unclear Direction = "cannot-tell"
)

// Change is one metric of one workload in one environment, NEW over BASE.
type Change struct {
	Workload string        `json:"workload"`
	Metric   record.Metric `json:"metric"`
	Env      string        `json:"env"`
	// NewEnv is the environment of NEW where it is another one.
	NewEnv string            `json:"new_env,omitempty"`
	Engine string            `json:"engine"`
	Levels map[string]string `json:"levels,omitempty"`
	// Base and New are the medians of all values.
	Base *sample.Estimate `json:"base,omitempty"`
	New  *sample.Estimate `json:"new,omitempty"`
	// BaseBlocks and NewBlocks are the blocks behind Ratio.
	BaseBlocks int `json:"base_blocks"`
	NewBlocks  int `json:"new_blocks"`
	// Against is the baseline by which both sides were divided, block by block,
	// before they were compared, and AgainstMetric its metric. Empty in two
	// runs: absolute values.
	Against       string `json:"against,omitempty"`
	AgainstMetric string `json:"against_metric,omitempty"`
	// Control says what of two runs was taken out as the baselines', where none was
	// asked for by name.
	Control *Control `json:"control,omitempty"`
	// State says how the machine's state differed between two runs, nil where that is
	// not seen.
	State *MachineState `json:"state,omitempty"`
	// Ratio is NEW over BASE, with its 95 % interval.
	Ratio *sample.Estimate `json:"ratio,omitempty"`
	// Method is "hodges-lehmann" (ranks), "t" or "welch" (fewer than 6 blocks:
	// preliminary), or "identical" (each value is the same).
	Method       string    `json:"method,omitempty"`
	Verdict      Direction `json:"verdict,omitempty"`
	BlocksNeeded int       `json:"blocks_needed,omitempty"`
	// P is of the table's test, Holm corrected for all cells of the table.
	P    *float64 `json:"p,omitempty"`
	Holm *float64 `json:"holm,omitempty"`
	// Missing says why there is no ratio, where there is none; Lost, that BASE
	// has a value and NEW none.
	Missing string    `json:"missing,omitempty"`
	Lost    bool      `json:"lost,omitempty"`
	Gate    *CellGate `json:"gate,omitempty"`

	// Quantile is set in Changes.Quantiles: which one it is of. BaseN and NewN are
	// then how many values stand on either side.
	Quantile float64 `json:"quantile,omitempty"`
	BaseN    int     `json:"base_n,omitempty"`
	NewN     int     `json:"new_n,omitempty"`

	// sample is what Ratio is estimated from.
	Sample sample.Sample `json:"-"`
	// humps: the values of a side fall into two.
	humps bool
	// by is what each side's blocks were divided by.
	by [2][]float64
}

// Name is the environment, or the two that were compared.
func (c *Change) Name() string {
	if c.NewEnv != "" {
		return c.Env + " → " + c.NewEnv
	}
	return c.Env
}

// Absolute says that values of two sessions were compared as they are although
// the machine's speed is in them.
func (c *Change) Absolute() bool {
	return c.Against == "" && c.Control == nil && !c.Sample.Paired && !OwnScale(c.Metric.Unit)
}

// OwnScale says that a unit does not follow the machine's speed.
func OwnScale(unit string) bool {
	switch unit {
	case "bytes", "B", "count", "containers", "requests", "percent", "ratio":
		return true
	}
	return false
}

// FailureChange is how the trials of one cell ended on both sides.
type FailureChange struct {
	Workload   string           `json:"workload"`
	Env        string           `json:"env"`
	NewEnv     string           `json:"new_env,omitempty"`
	BaseFailed int              `json:"base_failed"`
	BaseTrials int              `json:"base_trials"`
	NewFailed  int              `json:"new_failed"`
	NewTrials  int              `json:"new_trials"`
	BaseRate   *sample.Estimate `json:"base_rate,omitempty"`
	NewRate    *sample.Estimate `json:"new_rate,omitempty"`
	// Worse: NEW's interval lies above BASE's, corrected for the number of rows.
	Worse bool `json:"worse"`
	// Gate is nil without a gate, and where its rules ignore the cell.
	Gate *FailureGate `json:"gate,omitempty"`
}
