package agent

import "plimsoll/internal/record"

// What goes over the wire, as JSON. Fields are only ever added.

// Paths of version 1. All but the clock cost a reading.
const (
	pathAbout = "/v1/about"
	pathClock = "/v1/clock"
	pathBegin = "/v1/window/begin"
	pathEnd   = "/v1/window/end"
)

// The bounds of what either side takes from the other, bytes.
const (
	mostAsked    = 4 << 10
	mostAnswered = 32 << 20
)

// About is what an agent says of itself.
type About struct {
	Name    string        `json:"name"`
	Version string        `json:"version"`
	Sources []SourceState `json:"sources"`
}

// SourceState says of a source of counters whether this machine has it.
type SourceState struct {
	Name string `json:"name"`
	// Verified: its reader was tried on the real file system.
	Verified bool `json:"verified"`
	// Whole: it counts for all servers of the file system.
	Whole bool `json:"whole,omitempty"`
	// Absent is why there are no counters; empty where there are.
	Absent string `json:"absent,omitempty"`
}

// ClockAnswer is the agent's clock, ns of its CLOCK_MONOTONIC.
type ClockAnswer struct {
	Now int64 `json:"now"`
}

// BeginAsk begins a window of a run's trial. An earlier window of the same run
// that nobody has ended is given up.
type BeginAsk struct {
	Run   string `json:"run"`
	Trial int    `json:"trial"`
	// Job is the batch job whose requests are meant, where it can be told apart.
	Job string `json:"job,omitempty"`
}

// BeginAnswer names the window.
type BeginAnswer struct {
	Window string `json:"window"`
	Begun  int64  `json:"begun"` // the agent's clock, when the counters had been read
}

// EndAsk ends a window.
type EndAsk struct {
	Window string `json:"window"`
}

// Window is what was counted in one.
type Window struct {
	Begun int64 `json:"begun"` // the agent's clock: after the first reading
	Ended int64 `json:"ended"` // and before the second
	// Sources has for each source its counters' growth, by counter.
	Sources map[string]map[string]int64 `json:"sources,omitempty"`
	Remarks []string                    `json:"remarks,omitempty"`
	// Series is what the machine was doing meanwhile, sampled; nil where it is
	// not sampled. Its Request is Begun.
	Series *record.Series `json:"series,omitempty"`
}

// refusal is the body of an answer that is no success.
type refusal struct {
	Error string `json:"error"`
}
