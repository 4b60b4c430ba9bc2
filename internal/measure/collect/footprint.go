//go:build linux

package collect

// Quantity is a number that may be unknown: it is never 0 for that.
type Quantity struct {
	Value   int64  `json:"value,omitempty"`
	Missing string `json:"missing,omitempty"` // why there is no value
}

// OK says whether there is a value.
func (q Quantity) OK() bool { return q.Missing == "" }

// Use is what one part uses at a moment, in bytes but for CPU.
type Use struct {
	PSS Quantity `json:"pss"` // proportional set size of its processes
	USS Quantity `json:"uss"` // what its processes share with nobody
	// Anon, File, Kernel, Total and Peak are the control group's; of parts
	// without one of their own they are unknown.
	Anon      Quantity `json:"anon"`
	File      Quantity `json:"file"`
	Kernel    Quantity `json:"kernel"`
	Total     Quantity `json:"total"`
	Peak      Quantity `json:"peak"`
	CPU       Quantity `json:"cpu_ns"` // since it began, ns
	Processes int      `json:"processes"`
}

// Container is one subject's share.
type Container struct {
	Payload Use `json:"payload"`
	Monitor Use `json:"monitor"`
}

// Footprint is one snapshot of what containers weigh.
type Footprint struct {
	At         int64       `json:"at"`         // ns of CLOCK_MONOTONIC, when it began
	Took       int64       `json:"took_ns"`    // how long taking it took
	Containers []Container `json:"containers"` // in the order of the subjects
	// Payloads and Monitors are the sums over the containers, each process and
	// control group once; a sum of which a part is unknown is unknown.
	Payloads Use `json:"payloads"`
	Monitors Use `json:"monitors"`
	Daemon   Use `json:"daemon"`
}
