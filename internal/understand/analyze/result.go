// Package analyze holds what can be said of a run: its cells, the samples that
// they are made of compared with one another, and the types of all that is
// derived from them. The packages below it derive it; evaluate does it for a
// whole run.
//
// It is opinionated. The unit is the block, and only pairs from the same
// block are compared. There are three answers to whether two differ, never
// two. A ratio is of one metric to the same metric. What failed, what could
// not run and what is missing stands in the result like any other cell. Every
// oddity is a remark: data, with an advice.
//
// Why it is so: docs/decisions/statistics.md.
package analyze

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/analyze/sample"
	"plimsoll/internal/understand/analyze/steady"
)

// Schema is the version of Result as JSON. It grows when a field changes its
// meaning or goes away; new fields leave it as it is.
const Schema = 1

// Result is all that can be said of one run: pure data, in a fixed order, so
// that the same records give the same bytes. Every report renders it.
type Result struct {
	Schema       int                  `json:"schema"`
	Run          RunInfo              `json:"run"`
	Environments []record.Environment `json:"environments"`
	Workloads    []Workload           `json:"workloads"`
	Excluded     []record.Excluded    `json:"excluded"`
	Remarks      []record.Remark      `json:"remarks"`
	// Audit says on what terms the environments ran.
	Audit *audit.Audit `json:"audit"`
	// Overhead has a heat map for each baseline that ran.
	Overhead []Overhead `json:"overhead,omitempty"`
	// Ablations are waterfalls of the engines from which something was taken away.
	Ablations []*ablation.Waterfall `json:"ablations,omitempty"`
	// Charges are what the kernel charges for the mechanisms of containers, where a
	// run has asked it.
	Charges []*kernel.Charges `json:"charges,omitempty"`
	// Steadiness says in which states of the machine an environment scatters less,
	// where it is there twice in several.
	Steadiness []*steady.Table `json:"steadiness,omitempty"`
	// Papers are published tables, with the run's numbers beside theirs.
	Papers []PaperTable `json:"papers,omitempty"`
	// Findings says which of the study's claims hold, where it has any.
	Findings *Findings `json:"findings,omitempty"`
	// Features is the feature table that lies beside the record.
	Features *record.Features `json:"features,omitempty"`
	// Claims are those that the study carries.
	Claims []record.Claim `json:"-"`
	// Levels are the quantiles that Cell.Quantiles holds, those of evaluate.Options.Levels.
	Levels []float64 `json:"-"`
}

// RunInfo is what a reader needs to know of the run itself.
type RunInfo struct {
	ID    string `json:"id"`
	Study string `json:"study"`
	Title string `json:"title,omitempty"`
	// Command is the command of the user's own that was measured in place of a study.
	Command string `json:"command,omitempty"`
	// Scale is the size of the study, empty the full one; Parts are its parts.
	Scale    string          `json:"scale,omitempty"`
	Parts    []record.Part   `json:"parts,omitempty"`
	Status   string          `json:"status"`
	Started  time.Time       `json:"started"`
	Finished time.Time       `json:"finished,omitzero"`
	Tool     record.Tool     `json:"tool"`
	Protocol record.Protocol `json:"protocol"`
	Host     record.Host     `json:"host"`
	Images   []record.Image  `json:"images,omitempty"`
	// Bound are images of the study and those that ran in their place.
	Bound   map[string]string `json:"bound,omitempty"`
	Residue []string          `json:"residue,omitempty"`
	// Noise are the noise floors that the record holds.
	Noise []record.Noise `json:"noise,omitempty"`
	// Delta is the smallest relative difference that matters.
	Delta float64 `json:"delta"`
	// Blocks is how many counted blocks have a trial.
	Blocks int `json:"blocks"`
	// Trials counts all of them; Warmup those of warm-up blocks, which enter
	// no number; Failed those counted ones that failed, and Unsupported those of
	// them that could not work, since the engine can't do what was asked for.
	Trials      int `json:"trials"`
	Warmup      int `json:"warmup"`
	Failed      int `json:"failed"`
	Unsupported int `json:"unsupported,omitempty"`
	// Repeat is the command that measures the same again; empty where another
	// program measured.
	Repeat string `json:"repeat"`
	// Imported says where the numbers come from, where another program measured.
	Imported *record.Imported `json:"imported,omitempty"`
	// Looks say what was decided between blocks, where the number of blocks was
	// left open, and Gate what the run was gated by meanwhile.
	Looks []record.Look `json:"looks,omitempty"`
	Gate  *record.Gate  `json:"gate,omitempty"`
	// Time is where the time of the trials' part of the run went, nil where it is
	// not known.
	Time *Spent `json:"time,omitempty"`
}

// Spent is where the time went between the beginning of a run's first trial and
// the end of its last, ns: what was measured, and waiting before it until the
// machine was calm. The rest is clean-up, looking at the machine, and writing.
type Spent struct {
	Wall   int64 `json:"wall_ns"`
	Trials int64 `json:"trials_ns"`
	Calm   int64 `json:"calm_ns"`
}

// Workload is all about one workload.
type Workload struct {
	ID    string `json:"id"`
	Title string `json:"title,omitempty"`
	// Name is the workload's name in the catalogue, which choices of its
	// parameters have in common.
	Name   string            `json:"name,omitempty"`
	Params map[string]string `json:"params,omitempty"`
	// Show are the metrics to show first, Sort the one to sort by (empty:
	// each table by its own metric).
	Show []string `json:"show"`
	Sort string   `json:"sort,omitempty"`
	// Counts has an entry for each environment, in the run's order.
	Counts []Count `json:"counts"`
	Tables []Table `json:"tables"`
	// Density and Load are of the workloads of these names, with an entry for
	// each environment that ran them.
	Density []density.Cell `json:"density,omitempty"`
	Load    []load.Cell    `json:"load,omitempty"`
	// Beside has an entry for each environment with a trial that counts.
	Beside []Beside `json:"-"`
}

// Count is how the trials of one environment ended, warm-up left out.
type Count struct {
	Env    string `json:"env"`
	Warmup int    `json:"warmup"`
	Trials int    `json:"trials"`
	Failed int    `json:"failed"`
	// Censored is how many of Failed ran into their time limit: their times
	// are not missing but longer than the limit.
	Censored int              `json:"censored"`
	Classes  []sample.Failure `json:"classes,omitempty"`
	// Rate is Failed/Trials with Wilson's interval.
	Rate *sample.Estimate `json:"rate,omitempty"`
	// Missing says why there are no trials, where there are none.
	Missing string `json:"missing,omitempty"`
}

// Table is one metric of one workload over all environments.
type Table struct {
	Metric record.Metric `json:"metric"`
	// Cells has an entry for each environment, in the run's order.
	Cells []Cell `json:"cells"`
	// Ranking holds the environments with a median, the best first.
	Ranking []string `json:"ranking"`
	// Pairs compares each two of the ranking, in its order.
	Pairs []Pair `json:"pairs,omitempty"`
	// Test names the test behind the pairs' p, and thus behind the groups.
	Test string `json:"test,omitempty"`
}

// NotAsked is why a cell of a study with parts is missing that no part has. It
// is no gap: reports leave such cells out.
const NotAsked = "the study does not ask for it"

// Cell is one metric of one workload in one environment.
type Cell struct {
	Env string `json:"env"`
	// N is the number of values; Blocks that of blocks with at least one.
	N      int `json:"n"`
	Blocks int `json:"blocks"`
	// Missing says why there is no value, where there is none.
	Missing string           `json:"missing,omitempty"`
	Median  *sample.Estimate `json:"median,omitempty"`
	// P95 and P99 are given where N carries an interval for them.
	P95 *sample.Estimate `json:"p95,omitempty"`
	P99 *sample.Estimate `json:"p99,omitempty"`
	Min *float64         `json:"min,omitempty"`
	Max *float64         `json:"max,omitempty"`
	// Spread is the distance between the quartiles over the median.
	Spread *float64 `json:"spread,omitempty"`
	// Outliers counts values beyond Tukey's far fences; they are in every number.
	Outliers int `json:"outliers"`
	// Group holds the letters of the environment's groups: two environments
	// that share one cannot be told apart.
	Group string `json:"group,omitempty"`
	// Places are those that the environment may hold, nil of baselines beside
	// engines: two whose places overlap may not differ.
	Places *Places `json:"places,omitempty"`
	// Ratios compare with the baselines: native, floor, host, where they ran.
	Ratios []Ratio `json:"ratios,omitempty"`
	// BlockMedians are the medians by block, in order, null where one is
	// missing: the values behind every comparison. They are left out beyond
	// 1000 blocks.
	BlockMedians []*float64 `json:"block_medians,omitempty"`
	// Distinct is the number of different values, TwoHumps what the dip test
	// says of their distribution (at 1 %).
	Distinct int  `json:"distinct,omitempty"`
	TwoHumps bool `json:"two_humps,omitempty"`
	// Quantiles are those of Result.Levels, empty where there is no value.
	Quantiles []float64 `json:"-"`

	// Medians are those of the blocks that have one. ByBlock has a place for each
	// block, NaN where there is none: of one run the same places are the same
	// blocks in every cell. Both are empty where there is no value, and in a result
	// that was read from JSON. Values are all, by block, where they were kept.
	Medians []float64   `json:"-"`
	ByBlock []float64   `json:"-"`
	Values  [][]float64 `json:"-"`
}

// MaxBlockMedians bounds Cell.BlockMedians.
const MaxBlockMedians = 1000

// Verdict is one of three answers.
type Verdict string

// The three answers to whether two differ, by where the interval lies: outside
// ±delta, inside, or neither.
const (
	Differs    Verdict = "differs"     // outside, and p below 5 % after Holm's correction over the table
	Equal      Verdict = "equal"       // inside: equal for practical purposes
	CannotTell Verdict = "cannot-tell" // neither; see BlocksNeeded
)

// Comparison is the ratio of one environment's metric to the same metric of
// another, from pairs of the same block. Its type is made from one column
// of one metric only: the ratio of two different events cannot be formed.
type Comparison struct {
	sample.Estimate
	// Blocks is the number of pairs.
	Blocks int `json:"blocks"`
	// Method is "hodges-lehmann", or "t" (fewer than 6 blocks: preliminary;
	// fewer than 4: the mean of the logarithms, without an interval).
	Method string `json:"method,omitempty"`
	// Verdict compares the interval with ±delta; BlocksNeeded, where it cannot
	// tell, is about how many blocks would (0: no number of practical use).
	Verdict      Verdict `json:"verdict,omitempty"`
	BlocksNeeded int     `json:"blocks_needed,omitempty"`
	// Cliff is Cliff's delta of the block medians, Effect the word for it.
	Cliff  float64 `json:"cliff"`
	Effect string  `json:"effect,omitempty"`
	// Skewed: the rank-based and Student's estimate lie further apart than the
	// interval is wide, so that a few blocks are unlike the others.
	Skewed bool `json:"skewed,omitempty"`
	// Missing says why there is no ratio, where there is none.
	Missing string `json:"missing,omitempty"`
}

// Preliminary says that fewer than 6 blocks stand behind the interval.
func (c Comparison) Preliminary() bool { return c.Method == "t" }

// Ratio compares a cell with one of the baselines.
type Ratio struct {
	Baseline string `json:"baseline"` // native, floor or host
	Env      string `json:"env"`      // the environment that it is
	Comparison
	// P is of the signed-rank test, or of Student's on the logarithms where
	// ranks of so few blocks could reach no difference; Holm is corrected for
	// all environments that are compared with this baseline.
	P    *float64 `json:"p,omitempty"`
	Holm *float64 `json:"holm,omitempty"`

	pairs sample.Pairs // for p
}

// Pair compares two environments of a ranking: A over B.
type Pair struct {
	A string `json:"a"`
	B string `json:"b"`
	Comparison
	// P is of the table's test; Holm is corrected for all pairs of the table.
	P    *float64 `json:"p,omitempty"`
	Holm *float64 `json:"holm,omitempty"`
	// Also names the properties in which the two differ beyond the factors by
	// which they are named (see Audit): the comparison is about these too.
	Also []string `json:"also,omitempty"`
}

// Workload finds a workload of the result, or nil.
func (r *Result) Workload(id string) *Workload {
	return Find(r.Workloads, func(x *Workload) bool { return x.ID == id })
}

// Table finds a metric's table, or nil.
func (w *Workload) Table(metric string) *Table {
	return Find(w.Tables, func(x *Table) bool { return x.Metric.ID == metric })
}

// Count is what became of an environment's trials of it.
func (w *Workload) Count(env string) Count {
	if c := Find(w.Counts, func(x *Count) bool { return x.Env == env }); c != nil {
		return *c
	}
	return Count{Env: env}
}

// Measured says whether any environment has a value.
func (t *Table) Measured() bool {
	return t != nil && slices.ContainsFunc(t.Cells, func(c Cell) bool { return c.Median != nil })
}

// Cell finds an environment's cell, or nil; a table that is missing has none.
func (t *Table) Cell(env string) *Cell {
	if t == nil {
		return nil
	}
	return Find(t.Cells, func(x *Cell) bool { return x.Env == env })
}

// Ratio finds the comparison with a baseline, or nil.
func (c *Cell) Ratio(baseline string) *Ratio {
	return Find(c.Ratios, func(x *Ratio) bool { return x.Baseline == baseline })
}

// Environment finds an environment of the run, or nil.
func (r *Result) Environment(id string) *record.Environment {
	return Find(r.Environments, func(x *record.Environment) bool { return x.ID == id })
}

// MachineOf names a machine by what decides how fast it is.
func MachineOf(h record.Host) string {
	parts := []string{h.Arch, h.CPU, fmt.Sprintf("%d CPUs", h.CPUs), "Linux " + h.Kernel}
	if h.Name != "" {
		parts = append([]string{h.Name}, parts...)
	}
	return strings.Join(parts, ", ")
}

// Group is the name of the workload in the catalogue, which choices of its
// parameters have in common.
func (w *Workload) Group() string {
	if w.Name != "" {
		return w.Name
	}
	return w.ID
}
