package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/view"
)

// narrowFlags are what of a run a report is about.
type narrowFlags struct {
	choice analyze.Choice
}

func (f *narrowFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringSliceVar(&f.choice.Workloads, "workload", nil, "only these workloads of the run; a name of the catalogue takes all its parameters")
	fl.StringSliceVar(&f.choice.Envs, "env", nil, "only these environments of the run, and the baselines")
	fl.StringSliceVar(&f.choice.Engines, "engine", nil, "only the environments of these engines, and the baselines")
	completes(c, "workload", fromRuns(workloadsOf))
	completes(c, "env", fromRuns(environmentsOf))
	completes(c, "engine", fromRuns(enginesOf))
}

// read reads the part of a run that a report is about.
func (f *narrowFlags) read(dir string, o evaluate.Options) (*analyze.Result, error) {
	res, err := readWith(dir, o)
	if err != nil {
		return nil, err
	}
	if res, err = res.Narrow(f.choice); err != nil {
		return nil, chosen(err)
	}
	return res, nil
}

// view gives what pages and pictures draw of that part.
func (f *narrowFlags) view(dir string) (*view.Data, error) {
	if f.choice.Empty() {
		return viewOf(dir, nil)
	}
	res, err := f.read(dir, evaluate.Options{Levels: view.Levels})
	if err != nil {
		return nil, err
	}
	return viewOf(dir, res)
}
