package run

import (
	"time"

	"plimsoll/internal/record"
)

// Progress is told how a run goes. Its calls come between trials, never while
// one is being timed, and must return at once.
type Progress interface {
	// Step names a stage before the trials: opening an environment and so on.
	Step(text string)
	// Planned comes once, when it is known how many trials there will be: at most so
	// many where the run may end earlier, and 0 where time alone ends it.
	Planned(total, done int, atMost bool)
	// Trial comes before each trial.
	Trial(t Upcoming)
	// Failed comes after each trial that failed.
	Failed(f Failed)
	// Remark is something that the user should know now.
	Remark(text string)
	// End comes once, after the last trial.
	End()
}

// Upcoming is what runs next.
type Upcoming struct {
	Done, Total, Failed int // Total and Blocks: 0 where time alone ends the run
	Unsupported         int // not among the failed
	Env, Workload       string
	Block, Blocks       int
	Warmup              bool
	// AtMost: Total, Blocks and Left may turn out less.
	AtMost bool
	Left   time.Duration // estimate; 0 is unknown
	// Own is what of one processor this program has used so far; 0 is unknown.
	Own float64
}

// Failed is a trial that failed. Its text may come from an engine: it is as it
// came.
type Failed struct {
	Seq           int
	Env, Workload string
	Class         record.Class
	Text          string
	// Untried: it was refused as an earlier one of its cell, which was told.
	Untried bool
}

// NoProgress tells nobody.
type NoProgress struct{}

// Step does nothing.
func (NoProgress) Step(string) {}

// Planned does nothing.
func (NoProgress) Planned(int, int, bool) {}

// Trial does nothing.
func (NoProgress) Trial(Upcoming) {}

// Failed does nothing.
func (NoProgress) Failed(Failed) {}

// Remark does nothing.
func (NoProgress) Remark(string) {}

// End does nothing.
func (NoProgress) End() {}
