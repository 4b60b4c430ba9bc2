//go:build linux

package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"
)

// measuredBuilds are the flags of what measures builds of one program in the same
// blocks.
type measuredBuilds struct {
	engine   string
	workload string
	metrics  []string
	budget   time.Duration
	blocks   int
	seed     uint64
	tuned    bool
	dir      string
	progress string
	wait     bool
	force    bool
}

// addMeasured adds them, for a command of this name. What its metrics and its budget
// are for differs.
func (f *measuredBuilds) addMeasured(c *cobra.Command, w World, metrics, budget string) {
	fl := c.Flags()
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the program (default: the program's own, and none above a runtime)")
	fl.StringVar(&f.workload, "workload", f.workload, "what runs in the containers (plimsoll workloads)")
	fl.StringSliceVar(&f.metrics, "metric", nil, metrics+" (default: the workload's first, else startup)")
	fl.DurationVar(&f.budget, "budget", f.budget, budget)
	fl.IntVar(&f.blocks, "blocks", 0, "measure so many blocks instead, however long that takes")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	fl.BoolVar(&f.tuned, "tuned", false, "meanwhile set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it)")
	fl.StringVarP(&f.dir, "record", "d", "", fmt.Sprintf("directory of the record (default plimsoll-run-TIME-%s-PROGRAM)", c.Name()))
	fl.BoolVar(&f.wait, "wait", false, "wait for your turn if another Plimsoll is measuring on this machine: first come, first served")
	fl.BoolVar(&f.force, "force", false, "measure even if doctor refuses")
	choiceFlag(c, &f.progress, "progress", "how to show progress", "auto", "bar", "plain", "json", "none")
	_ = c.RegisterFlagCompletionFunc("workload", completeWorkloads) // it fails only for a flag that is not there
	completesEngines(c, w)
}
