package record

import (
	"math"
	"slices"
)

// Direction says which way a metric is better.
type Direction string

// The two directions.
const (
	LowerIsBetter  Direction = "lower"
	HigherIsBetter Direction = "higher"
)

// Metric is one entry of the registry: what a number means. Ids are stable
// for ever.
type Metric struct {
	ID     string    `json:"id"`
	Unit   string    `json:"unit"`
	Better Direction `json:"better"`
	// Title is a short name for a column, What a sentence.
	Title string `json:"title"`
	What  string `json:"what"`
	// From and To are the two events whose difference the metric is; both are
	// empty for metrics that come from Trial.Values.
	From Event `json:"from,omitempty"`
	To   Event `json:"to,omitempty"`
	// Kind is empty for the workload's own metrics and those of the life cycle.
	Kind Kind `json:"kind,omitempty"`
}

// Kind says where a metric comes from beside the workload itself.
type Kind string

// The kinds of metrics.
const (
	// Sampled: what the machine was seen to do meanwhile. It gets no ranking
	// unless it is asked for.
	Sampled Kind = "sampled"
	// Detail is sampled too; the text and Markdown reports leave it out.
	Detail Kind = "detail"
	// Check: it proves that the same work was done, and is neither better nor worse.
	// It gets no ranking and carries no verdict unless it is asked for.
	Check Kind = "check"
)

// LifeCycle lists the metrics derived from events, in the order in which a
// report shows them. All are nanoseconds, lower is better.
var LifeCycle = []Metric{
	{ID: "bootstrap", Unit: "ns", Better: LowerIsBetter, Title: "bootstrap", From: Request, To: First,
		What: "from the request to the first instruction of the payload"},
	{ID: "startup", Unit: "ns", Better: LowerIsBetter, Title: "start-up", From: Request, To: Ready,
		What: "from the request to the payload's first byte reaching us (comparable with a foreign clock too)"},
	{ID: "sandbox", Unit: "ns", Better: LowerIsBetter, Title: "sandbox", From: Request, To: Sandbox,
		What: "from the request until the pod sandbox is ready (CRI)"},
	{ID: "create", Unit: "ns", Better: LowerIsBetter, Title: "create", From: Request, To: Created,
		What: "from the request until create has returned"},
	{ID: "start", Unit: "ns", Better: LowerIsBetter, Title: "start", From: Start, To: First,
		What: "from the start request to the first instruction of the payload"},
	{ID: "boot", Unit: "ns", Better: LowerIsBetter, Title: "boot", From: Start, To: Init,
		What: "from the start request to the first instruction of a system container's own init (LXD, Incus, LXC)"},
	{ID: "exec", Unit: "ns", Better: LowerIsBetter, Title: "exec", From: Exec, To: First,
		What: "from the request to execute a program in a running container to that program's first instruction"},
	{ID: "exec-ready", Unit: "ns", Better: LowerIsBetter, Title: "exec to ready", From: Exec, To: Ready,
		What: "from the request to execute a program in a running container until its first byte has reached us"},
	{ID: "output-delay", Unit: "ns", Better: LowerIsBetter, Title: "output delay", From: First, To: Ready,
		What: "from the first instruction of the payload until its first byte has reached us"},
	{ID: "execution", Unit: "ns", Better: LowerIsBetter, Title: "execution", From: First, To: Done,
		What: "the payload's own work, by its own clock"},
	{ID: "shutdown", Unit: "ns", Better: LowerIsBetter, Title: "shutdown", From: Done, To: Exit,
		What: "from the payload's last stamp until we see that the container has ended"},
	{ID: "stop", Unit: "ns", Better: LowerIsBetter, Title: "stop", From: Stop, To: Stopped,
		What: "from the stop request until it has returned"},
	{ID: "removal", Unit: "ns", Better: LowerIsBetter, Title: "removal", From: Exit, To: Removed,
		What: "from the container's end until remove has returned"},
	{ID: "whole", Unit: "ns", Better: LowerIsBetter, Title: "whole", From: Request, To: Removed,
		What: "the whole life cycle, from the request until the container is gone"},
}

// AllMetrics are those of the life cycle, then the workload's own. A workload
// that reports a metric of the life cycle by itself, as imported ones do, has
// it as its own only.
func (w *Workload) AllMetrics() []Metric {
	out := slices.DeleteFunc(slices.Clone(LifeCycle), func(m Metric) bool {
		return slices.ContainsFunc(w.Metrics, func(own Metric) bool { return own.ID == m.ID })
	})
	return append(out, w.Metrics...)
}

// MetricByID finds a life-cycle metric.
func MetricByID(id string) (Metric, bool) {
	for _, m := range LifeCycle {
		if m.ID == id {
			return m, true
		}
	}
	return Metric{}, false
}

// Derive computes an event metric of a trial, in nanoseconds. The second
// result is false where the trial failed, lacks one of the events, or where
// one event is of a foreign clock and the other is not: such a cell is
// missing, never 0.
func (m Metric) Derive(t *Trial) (int64, bool) {
	if !t.OK() || m.From == "" {
		return 0, false
	}
	from, ok := t.Events[m.From]
	if !ok {
		return 0, false
	}
	to, ok := t.Events[m.To]
	if !ok {
		return 0, false
	}
	if t.Clock == ClockForeign && m.From.Inside() != m.To.Inside() {
		return 0, false
	}
	if m.ID == "removal" && from == to {
		return 0, false
	}
	return to - from, true
}

// Value is the metric of a trial in the metric's unit: derived from events, or
// as the workload said. The second result is false where there is none.
func (m *Metric) Value(t *Trial) (float64, bool) {
	if m.From != "" {
		d, ok := m.Derive(t)
		return float64(d), ok
	}
	v, ok := t.Values[m.ID]
	return v, ok && !math.IsNaN(v) && !math.IsInf(v, 0)
}

// Failures is the share of an environment's trials that failed. It is not a metric
// of a trial, and no table of a report has it, since failures are counted next to
// each metric: claims and published tables use this name.
var Failures = Metric{ID: "failures", Unit: "percent", Better: LowerIsBetter, Title: "failures",
	What: "the share of trials that failed, with Wilson's interval"}
