package record

import "time"

// Class says why a trial failed. Classes are stable; the text beside them is
// for people.
type Class string

// The classes of failure.
const (
	Unsupported    Class = "unsupported"      // the engine can't do this
	Unavailable    Class = "unavailable"      // something needed is not there: image, daemon, tool
	Skipped        Class = "skipped"          // not tried, the text says why
	TimeOut        Class = "time-out"         // did not end in its time limit: a censored value
	OutOfMemory    Class = "out-of-memory"    // the kernel killed it for want of memory
	Crash          Class = "crash"            // a signal, or an exit status that was not asked for
	EngineError    Class = "engine-error"     // the engine said no
	NoProof        Class = "no-proof"         // the payload's word did not come, whatever the engine says
	WrongComponent Class = "wrong-component"  // the live runtime, driver or network is not the one asked for
	UncleanEnd     Class = "unclean-teardown" // something was left behind
	BadOutput      Class = "bad-output"       // the workload's output could not be understood
	HarnessError   Class = "harness-error"    // our own fault
)

// Classes lists every class.
var Classes = []Class{Unsupported, Unavailable, Skipped, TimeOut, OutOfMemory, Crash, EngineError,
	NoProof, WrongComponent, UncleanEnd, BadOutput, HarnessError}

// Failure is why a trial has no times.
type Failure struct {
	Class Class  `json:"class"`
	Text  string `json:"text"`
	// Untried: an earlier trial of the same cell was refused for what can't
	// change within a run; this one was not begun, and has that one's words.
	Untried bool `json:"untried,omitempty"`
}

// Trial is one execution of one workload in one environment: one line of
// trials.jsonl.
type Trial struct {
	// Seq is the trial's place in the plan, from 0: unique in a run, the same
	// after a resume.
	Seq      int    `json:"seq"`
	Block    int    `json:"block"`
	Warmup   bool   `json:"warmup,omitempty"`
	Env      string `json:"env"`
	Workload string `json:"workload"`
	// Params are the workload's parameters, where it has any.
	Params map[string]string `json:"params,omitempty"`
	// At is the wall clock at the request, for people.
	At time.Time `json:"at"`

	Failure *Failure        `json:"failure,omitempty"`
	Clock   Clock           `json:"clock,omitempty"`
	Events  map[Event]int64 `json:"events,omitempty"`
	// Steps are further stamps that only this engine has, such as the system
	// calls of the floor, in order.
	Steps []Step `json:"steps,omitempty"`
	// Values are metrics that the workload reported, by metric id.
	Values map[string]float64 `json:"values,omitempty"`
	// Inside is the id of what the payload saw (see Run directory, inside.jsonl).
	Inside string `json:"inside,omitempty"`
	// Exit is the payload's exit status, where it is known.
	Exit *int `json:"exit,omitempty"`
	// Client is what the client's own processes used.
	Client *Usage `json:"client,omitempty"`
	// Host is what disturbed the host during the trial.
	Host *Disturbance `json:"host,omitempty"`
	// Quiet is how long we waited before the trial until the host was quiet, ns.
	Quiet int64 `json:"quiet_ns,omitempty"`
	// Running is how many other threads ran or wanted to at the end of that wait, on
	// average over its last millisecond or so; nil where nobody looked.
	Running *float64 `json:"running,omitempty"`
	// Binary is the SHA-256 of the program that was measured, as it was found
	// inside, where the payload is one of the image's programs.
	Binary string `json:"binary,omitempty"`
	// Samples names the files below samples/ with time series of this trial.
	Samples []string `json:"samples,omitempty"`
	// Remarks are oddities that belong to this trial.
	Remarks []string `json:"remarks,omitempty"`
	// Output names the file below output/ that holds what the workload
	// printed, where it was kept (always for a failed trial).
	Output string `json:"output,omitempty"`
}

// NotQuiet is the remark on a trial that began although the machine had not become
// calm.
const NotQuiet = "the host was not quiet before this trial"

// Step is a named stamp between two events, ns of CLOCK_MONOTONIC.
type Step struct {
	Name string `json:"name"`
	At   int64  `json:"at"`
}

// Usage is what wait4 said of the client's processes.
type Usage struct {
	UserNS   int64 `json:"user_ns"`
	SystemNS int64 `json:"system_ns"`
	MaxRSS   int64 `json:"max_rss_bytes"`
}

// Disturbance is what else happened on the host while a trial ran.
type Disturbance struct {
	// StealNS is time stolen by the hypervisor, all CPUs together.
	StealNS int64 `json:"steal_ns,omitempty"`
	// ThrottledNS is the time for which our own CPU limit held the trial's
	// processes back, all CPUs together; nil where there is no such limit or
	// nobody can tell.
	ThrottledNS *int64 `json:"throttled_ns,omitempty"`
	// CPUPressureNS, MemoryPressureNS and IOPressureNS are the growth of
	// /proc/pressure's "some" totals.
	CPUPressureNS    int64 `json:"cpu_pressure_ns,omitempty"`
	MemoryPressureNS int64 `json:"memory_pressure_ns,omitempty"`
	IOPressureNS     int64 `json:"io_pressure_ns,omitempty"`
}

// OK says whether the trial succeeded.
func (t *Trial) OK() bool { return t.Failure == nil }
