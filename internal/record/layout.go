package record

import (
	"fmt"
	"strings"
)

// The names in a run's directory.
const (
	RunFile    = "run.json"
	TrialsFile = "trials.jsonl"
	InsideFile = "inside.jsonl"
	OutputDir  = "output"
	SamplesDir = "samples"
	// JobsDir is of a run that a cluster's scheduler ran: its jobs' script, logs
	// and account. It is there before the record is.
	JobsDir = "jobs"
	// HostsFile is beside the runs' directories of a study that was begun on several
	// hosts by one command: the account of what was begun where.
	HostsFile = "hosts.json"
	lockFile  = ".lock"
)

// MaxSeq bounds Trial.Seq: a number beyond it is damage, not a plan.
const MaxSeq = 1 << 26

// OutputName is the name below output/ of what a trial printed. It is made
// from the trial's number only, so that nothing from a study or a container
// can become a path.
func OutputName(seq int) string { return fmt.Sprintf("%08d.txt", seq) }

// SamplesName is the name below samples/ of one collector's time series of a
// trial. The collector's name may hold a-z, 0-9 and '-' only.
func SamplesName(seq int, collector string) (string, error) {
	if collector == "" || strings.Trim(collector, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return "", fmt.Errorf("naming the samples of trial %d: collector %q may hold a-z, 0-9 and '-' only", seq, collector)
	}
	return fmt.Sprintf("%08d.%s.jsonl", seq, collector), nil
}
