package record

// Agent is another machine's, or this one's, counters of storage, which were read
// around each trial.
type Agent struct {
	// Name stands before the ids of its metrics.
	Name string `json:"name"`
	// Host is its address and port; empty for the machine that measured.
	Host    string        `json:"host,omitempty"`
	Version string        `json:"version,omitempty"`
	Sources []AgentSource `json:"sources"`
	// Clocks are how far its clock was from ours, at the run's begin and its end,
	// and again for each resume.
	Clocks []ClockOffset `json:"clocks,omitempty"`
}

// AgentSource is one source of counters that an agent had.
type AgentSource struct {
	Name string `json:"name"`
	// Unverified is true where its reader was never tried on the real file system.
	Unverified bool `json:"unverified,omitempty"`
}

// ClockOffset says how far another clock was from ours, both CLOCK_MONOTONIC.
type ClockOffset struct {
	AtNS int64 `json:"at_ns"` // by our clock
	// OffsetNS is what to take from a time of the other clock to have ours.
	OffsetNS int64 `json:"offset_ns"`
	// UncertaintyNS is by how much that may be wrong, either way.
	UncertaintyNS int64 `json:"uncertainty_ns"`
}
