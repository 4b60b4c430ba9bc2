//go:build linux

package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/collect"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// measuredBuilds are the flags of what measures builds of one program in the same
// blocks.
type measuredBuilds struct {
	turn
	engine   string
	workload string
	metrics  []string
	budget   time.Duration
	blocks   int
	seed     uint64
	tuned    bool
	dir      string
}

// addMeasured adds them, for a command of this name. What its metrics and its budget
// are for differs.
func (f *measuredBuilds) addMeasured(c *cobra.Command, w World, metrics, budget string) {
	fl := c.Flags()
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the program (default: the program's own, and none above a runtime)")
	fl.StringVar(&f.workload, "workload", f.workload, "what runs in the containers (plimsoll workloads)")
	fl.StringSliceVar(&f.metrics, "metric", nil, metrics+" (default: the workload's first, else startup)")
	fl.DurationVar(&f.budget, "budget", f.budget, budget)
	fl.IntVar(&f.blocks, "blocks", 0, "measure this many blocks instead, however long that takes")
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	fl.BoolVar(&f.tuned, "tuned", false, "meanwhile set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it)")
	fl.StringVarP(&f.dir, "record", "d", "", fmt.Sprintf("directory of the record (default plimsoll-run-TIME-%s-PROGRAM)", c.Name()))
	f.addTurn(c)
	completes(c, "workload", completeWorkloads)
	completesMeasured(c, func([]string) string { return f.workload })
	completesFolders(c, "record")
	completesEngines(c, w)
}

// chosen are the metrics of a plan that are asked for: without any its workload's
// first, else the exec of a workload that executes in a running container, else the start.
func (f *measuredBuilds) chosen(p *study.Plan) ([]string, error) {
	own := slices.DeleteFunc(slices.Clone(p.Workloads[0].Metrics), func(m record.Metric) bool { return m.Kind != "" })
	if len(f.metrics) == 0 {
		x, _ := workload.Find(p.Workloads[0].Name) // one of a file executes nothing
		switch {
		case len(own) > 0:
			return []string{own[0].ID}, nil
		case x.Executes():
			return []string{string(record.Exec)}, nil
		}
		return []string{"startup"}, nil
	}
	var known []string
	for _, m := range slices.Concat(own, record.LifeCycle, collect.Metrics()) {
		known = append(known, m.ID)
	}
	for _, m := range f.metrics {
		if !slices.Contains(known, m) {
			return nil, chosen(&analyze.ChoiceError{What: "metric", Word: m, Known: known})
		}
	}
	return f.metrics, nil
}

// ends is what ends the run, as a study's protocol has it: a number of blocks, or the
// time, and with it what else is given.
func (f *measuredBuilds) ends(budgeted string) string {
	if f.blocks > 0 {
		return fmt.Sprintf("blocks: %d", f.blocks)
	}
	return fmt.Sprintf("time-budget: %s, max-blocks: %d%s", f.budget, mostInBudget, budgeted)
}

// possible refuses what cannot end a run.
func (f *measuredBuilds) possible() error {
	if f.blocks < 0 || f.blocks > study.MostBlocks {
		return fail(Usage, "--blocks is %d: expected from 1 to %d", f.blocks, study.MostBlocks)
	}
	return budgeted(f.budget)
}

// repeated is what measures the same again: line with its flags, among which own are
// those of the command itself. usual is the budget that it has without any.
func (f *measuredBuilds) repeated(line, own shellLine, usual time.Duration, seed uint64) string {
	line.add(f.engine != "", "--engine", f.engine)
	line.add(f.workload != lifeCycle, "--workload", f.workload)
	line.add(len(f.metrics) > 0, "--metric", strings.Join(f.metrics, ","))
	line.add(true, own...)
	line.add(f.blocks > 0, "--blocks", fmt.Sprint(f.blocks))
	line.add(f.blocks == 0 && f.budget != usual, "--budget", f.budget.String())
	line.add(f.tuned, "--tuned")
	line.add(true, "--seed", fmt.Sprint(seed))
	return harmless.ShellLine(line)
}
