package sharp

import (
	"context"
	"time"
)

// Task is what is measured.
type Task struct {
	Engine   string
	Changes  []float64
	Tuned    bool
	Budget   time.Duration
	Runs     int
	PerRound int
	// Calibrate is how many blocks tell the start of which the changes are shares.
	Calibrate int
	// Blocks is how many each run has, as long as they take; 0 is what fits into
	// the budget.
	Blocks int
	Say    func(string, ...any)
}

// Measure measures an engine as asked; see the package measured, which also says which
// engines there are.
type Measure func(context.Context, Task) (*Stretch, error)

// Metric is the one that is gated.
const Metric = "startup"

// State names the machine's.
func State(tuned bool) string {
	if tuned {
		return "tuned"
	}
	return "as it is"
}
