package sharp

import (
	"context"
	"time"
)

// Engines are those whose program can be replaced by one that is slower.
var Engines = []string{"runc", "crun", "podman", "docker"}

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

// Measure measures an engine as asked; see the package measured.
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
