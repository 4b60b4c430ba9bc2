// Package view turns a run's result into what people look at: the data behind
// the charts of the HTML report, the live page and the static pictures, which
// all draw the same.
//
// It is opinionated. All numbers are computed in Go, by analyze or here, and
// tested; a page only draws. Beside a number stands what a table shows: its n,
// its failures, its interval. However many trials a run has, the data stay
// small: distributions become quantiles, curves are thinned.
//
// Why it is so: docs/decisions/page.md.
package view

import (
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/audit"
	"plimsoll/internal/understand/analyze/density"
	"plimsoll/internal/understand/analyze/figure"
	"plimsoll/internal/understand/analyze/kernel"
	"plimsoll/internal/understand/analyze/load"
	"plimsoll/internal/understand/report"
)

// Schema is the version of Data as JSON.
const Schema = 1

// Data is all that a page draws of one run. Lists of cells are columns: the
// i-th number of each belongs together, and null says that there is none.
// Environments and workloads are named by their place in Envs and Works.
type Data struct {
	Schema int             `json:"schema"`
	Run    analyze.RunInfo `json:"run"`
	// Facts say what was measured, how, where and when.
	Facts []report.Named `json:"facts"`
	// Answer is what a terminal's one screen says, nil where it has none; Verdict
	// answers the study's question in a few sentences.
	Answer  *report.Said `json:"answer,omitempty"`
	Verdict []string     `json:"verdict"`
	// Trust says whether machine and run can be relied on, the worst first.
	Trust     []Trust            `json:"trust"`
	Envs      []Env              `json:"envs"`
	Works     []Work             `json:"works"`
	Excluded  []record.Excluded  `json:"excluded"`
	Remarks   []record.Remark    `json:"remarks"`
	Overheads []analyze.Overhead `json:"overheads,omitempty"`
	// Ablations are waterfalls of engines from which something was taken away.
	Ablations []*ablation.Waterfall `json:"ablations,omitempty"`
	// Courses are those of starts that were followed.
	Courses []Course `json:"courses,omitempty"`
	// Charges are what the kernel charges for mechanisms.
	Charges  []*kernel.Charges    `json:"charges,omitempty"`
	Audit    *audit.Audit         `json:"audit,omitempty"`
	Papers   []analyze.PaperTable `json:"papers,omitempty"`
	Findings *analyze.Findings    `json:"findings,omitempty"`
	Features *record.Features     `json:"features,omitempty"`
	// Figures are what the study's paper drew, with the run's numbers: for
	// pictures, and not among the data of a page.
	Figures []figure.Figure `json:"-"`
	// Trials are those that a reader can look up one by one.
	Trials Trials `json:"trials"`
	// Shortened says what was left out so that the page stays small, "" nothing.
	Shortened string `json:"shortened,omitempty"`
}

// Trust is one fact on which the result's worth depends.
type Trust struct {
	Level string `json:"level"` // good, warn, bad
	Title string `json:"title"` // such as "Failures", "Drift", "Steal"
	Text  string `json:"text"`
}

// Env is one environment as a page names it.
type Env struct {
	record.Environment
	// Name is short and unique on the page; Group is the engine, by which
	// environments share a colour.
	Name  string `json:"name"`
	Group string `json:"group"`
}

// Work is one workload.
type Work struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// Name is the workload's name in the catalogue, which choices of its Params
	// have in common.
	Name   string            `json:"name,omitempty"`
	Params map[string]string `json:"params,omitempty"`
	Show   []string          `json:"show"` // metrics to show first
	// First is the metric that stands for the workload where there is room for
	// one, "" where none has a value. See analyze.Workload.First.
	First  string          `json:"first,omitempty"`
	Sort   string          `json:"sort,omitempty"`
	Counts []analyze.Count `json:"counts"`
	Tables []Table         `json:"tables"`
	// Phases are the steps of a life cycle, from request to removed, where the
	// workload has them.
	Phases *Phases `json:"phases,omitempty"`
	// Curves are time series, aligned at the request.
	Curves  []Curve        `json:"curves,omitempty"`
	Density []density.Cell `json:"density,omitempty"`
	Load    []load.Cell    `json:"load,omitempty"`
}

// FirstTable is the table of First, nil where there is none.
func (w *Work) FirstTable() *Table { return w.Table(w.First) }

// Table finds a metric's table, or nil.
func (w *Work) Table(metric string) *Table {
	return analyze.Find(w.Tables, func(x *Table) bool { return x.Metric.ID == metric })
}

// Table is one metric of a workload, in columns over Envs.
type Table struct {
	Metric  record.Metric `json:"metric"`
	Ranking []int         `json:"ranking"` // places in Envs, the best first
	Test    string        `json:"test,omitempty"`
	N       []int         `json:"n"`
	Blocks  []int         `json:"blocks"`
	Median  []*float64    `json:"median"`
	Lo      []*float64    `json:"lo"`
	Hi      []*float64    `json:"hi"`
	P95     []*float64    `json:"p95"`
	Group   []string      `json:"group"`
	// Places are the first and the last place that an environment may hold, null
	// where it holds none, as a baseline; Times is how many times worse than the
	// first one it is.
	Places  []*analyze.Places `json:"places"`
	Times   []*float64        `json:"times"`
	Missing []string          `json:"missing"`
	// Against are the ratios to each baseline that ran.
	Against []Against `json:"against"`
	// Dist are the distributions, by environment.
	Dist []Dist `json:"dist"`
}

// Against is the ratios of a table's environments to one baseline.
type Against struct {
	Baseline string            `json:"baseline"` // native, floor or host
	Ratio    []*float64        `json:"ratio"`
	Lo       []*float64        `json:"lo"`
	Hi       []*float64        `json:"hi"`
	Verdict  []analyze.Verdict `json:"verdict"`
	Needed   []int             `json:"needed"` // blocks that would tell; 0 unknown
}

// Dist is a distribution of the values of one cell: each of them with its trial
// where they are few, else quantiles alone.
type Dist struct {
	// Values are in the order of the trials, Trial their places in Trials.
	Values []float64 `json:"values,omitempty"`
	Trial  []int     `json:"trial,omitempty"`
	// Quantiles are those of Levels; empty where there is no value.
	Quantiles []float64 `json:"quantiles,omitempty"`
}

// Levels are the quantiles that a Dist has: enough for a box with whiskers from
// 2.5 to 97.5 %, and for an empirical distribution function.
var Levels = []float64{0, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5,
	0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.975, 0.99, 1}

// Phases are medians of consecutive steps of a life cycle, ns: a stacked bar
// for each environment.
type Phases struct {
	// Steps are the titles, from request to removed; an environment lacks
	// those that its engine has not.
	Steps []Step `json:"steps"`
	// Medians has a list for each of Envs, over Steps; null where there is none.
	Medians [][]*float64 `json:"medians"`
}

// Step is one phase, between two events.
type Step struct {
	Metric string       `json:"metric,omitempty"` // its id, where it is one
	Title  string       `json:"title"`
	From   record.Event `json:"from"`
	To     record.Event `json:"to"`
}

// Curve is one column of the time series of one environment: the median over
// the trials at each time after the request, with the quartiles around it.
type Curve struct {
	Env    int       `json:"env"`
	Column string    `json:"column"`
	Title  string    `json:"title"`
	Part   string    `json:"part"` // payload, monitor, daemon, client, host, own
	Unit   string    `json:"unit"` // bytes, or CPUs: how many processors it keeps busy
	Trials int       `json:"trials"`
	T      []float64 `json:"t"` // seconds after the request
	V      []float64 `json:"v"`
	Lo     []float64 `json:"lo,omitempty"`
	Hi     []float64 `json:"hi,omitempty"`
}

// Trials are columns of trials, in the order in which they ran.
type Trials struct {
	Of    int      `json:"of"` // how many count; fewer may be listed
	Seq   []int    `json:"seq"`
	Block []int    `json:"block"`
	Env   []int    `json:"env"`
	Work  []int    `json:"work"`
	At    []int64  `json:"at"` // ms after the run's beginning; 0 unknown
	Class []string `json:"class"`
	Text  []string `json:"text"` // why it failed
}
