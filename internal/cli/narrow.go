package cli

import (
	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
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
	for flag, of := range map[string]func(*analyze.Result) []string{
		"workload": func(r *analyze.Result) []string {
			return lists.Map(r.Workloads, func(w analyze.Workload) string { return w.ID })
		},
		"env": func(r *analyze.Result) []string {
			return lists.Map(r.Environments, func(e record.Environment) string { return e.ID })
		},
		"engine": func(r *analyze.Result) []string {
			return lists.Map(r.Environments, func(e record.Environment) string { return e.Engine })
		},
	} {
		_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, dirs []string, _ string) (all []string, _ cobra.ShellCompDirective) {
			for _, dir := range dirs {
				if res, err := readResult(dir); err == nil {
					all = append(all, of(res)...)
				}
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		}) // it fails only for a flag that is not there
	}
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
