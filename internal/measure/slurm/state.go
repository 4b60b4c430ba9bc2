package slurm

import (
	"slices"
	"strings"
)

// State is what Slurm says of a job, in its own words: PENDING, RUNNING …
// https://slurm.schedmd.com/squeue.html#SECTION_JOB-STATE-CODES
type State string

// The states that something depends on here.
const (
	Pending   State = "PENDING"
	Running   State = "RUNNING"
	Completed State = "COMPLETED"
	Failed    State = "FAILED"
	Cancelled State = "CANCELLED"
	TimeOut   State = "TIMEOUT"
	NodeFail  State = "NODE_FAIL"
	Preempted State = "PREEMPTED"
	BootFail  State = "BOOT_FAIL"
	// Forgotten is none of Slurm's: it knows the job no more, and has no
	// accounting that would.
	Forgotten State = "FORGOTTEN"
)

// over are the states that a job does not leave, but by being queued again.
var over = []State{Completed, Failed, Cancelled, TimeOut, NodeFail, Preempted, BootFail, "DEADLINE", "OUT_OF_MEMORY", "REVOKED", Forgotten}

// Over says whether a job has ended. A state that is not known here has not:
// a newer Slurm's is asked for again and not taken for an end.
func (s State) Over() bool { return slices.Contains(over, s) }

// Waits says whether a job has yet to begin.
func (s State) Waits() bool {
	return slices.Contains([]State{Pending, "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "RESV_DEL_HOLD", "SPECIAL_EXIT"}, s)
}

// Again says whether a job that ended so may be submitted again: it was not its
// own doing, nor anybody's wish.
func (s State) Again() bool {
	return slices.Contains([]State{TimeOut, NodeFail, Preempted, BootFail}, s)
}

// Text is what a state means, for people.
func (s State) Text() string {
	switch s {
	case TimeOut:
		return "its time limit was reached"
	case NodeFail:
		return "a node of it died"
	case Preempted:
		return "another job took its nodes"
	case BootFail:
		return "its nodes did not start"
	case Cancelled:
		return "it was cancelled"
	case "OUT_OF_MEMORY":
		return "its memory was used up"
	case Forgotten:
		return "Slurm knows it no more"
	}
	return strings.ToLower(string(s))
}

// state reads one: sacct says by whom a job was cancelled, and both may add a +.
func state(s string) State {
	s, _, _ = strings.Cut(strings.TrimSpace(s), " ")
	return State(strings.TrimSuffix(s, "+"))
}
