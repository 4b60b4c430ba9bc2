package probe

import "errors"

// Payload is what a payload said.
type Payload struct {
	First int64 // its first instruction, ns of its own CLOCK_MONOTONIC
	Done  int64 // its last stamp; 0 where it did not come to that
	// Report is what it saw, by key; see docs/records.md.
	Report map[string]string
}

// ErrNoProof is returned where the word did not come.
var ErrNoProof = errors.New("the payload did not answer with this trial's word")

// ParsePayload reads what a payload printed and checks the trial's word.
func ParsePayload(out []byte, word string) (Payload, error) {
	return Payload{}, ErrNoProof
}

// PayloadArgs are the arguments of a payload (without the probe's own path).
type PayloadArgs struct {
	Word   string
	Exit   int    // exit status
	Stay   bool   // stay until told by SIGTERM (or end of standard input in the variant echo)
	OnTerm string // "exit" (default) or "ignore"
	Report bool   // report what is seen from inside
	Echo   bool   // answer each line of standard input with a stamp (clock exchange)
	Crash  bool   // "--crash": after the first line, end by an illegal instruction (PID 1 too: the kernel forces it)
}

// Argv gives the argument list, with path as Argv[0].
func (a PayloadArgs) Argv(path string) []string { return nil }
