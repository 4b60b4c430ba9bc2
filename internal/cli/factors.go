package cli

import (
	"io"

	"github.com/spf13/cobra"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/factors"
	"plimsoll/internal/understand/report"
)

func factorsCommand(w World) *cobra.Command {
	var opts factors.Options
	var several hostFlags
	p := printing{format: "text"}
	c := &cobra.Command{
		Use:   "factors DIR...",
		Short: "Show what matters most: how much of a run's variance each factor explains",
		Long: `Reads a run over a matrix of environments and workload parameters, and says what
share of the variance comes from the storage driver, the runtime, the engine and
whatever else varied, and from each pair of them. Factors that the plan only
varied together are reported together, with one share. Baselines are left out.

For runs from several hosts it gives each host's shares, and says which factors have a
different effect on different hosts.`,
		Example: `  plimsoll factors plimsoll-run-1
  plimsoll factors plimsoll-run-1 --workload sqlite --metric time
  plimsoll factors plimsoll-run-1 --engine docker,podman --format json
  plimsoll factors results/`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, args []string) error {
			groups, err := several.byHost(args)
			if err != nil {
				return err
			}
			if groups != nil {
				all, err := factorsOnHosts(groups, opts)
				if err != nil {
					return err
				}
				return tell(w, &p, report.HostFactors, all)
			}
			if len(args) > 1 {
				return withHint(fail(Usage, "%d runs of one host are given, and the factors of one run are found", len(args)), "plimsoll factors %s", args[0])
			}
			res, err := readResult(args[0])
			if err != nil {
				return err
			}
			all, err := factorsOf(res, opts)
			if err != nil {
				return err
			}
			return p.show(w, func(out io.Writer, o report.Options) error { return report.WriteFactors(out, p.format, res, all, o) })
		},
	}
	p.add(c, report.FactorFormats()...)
	c.Flags().StringVar(&opts.Workload, "workload", "", "only this workload, or this choice of its parameters (default: all, one after the other)")
	c.Flags().StringVar(&opts.Metric, "metric", "", "the metric (default: each workload's first)")
	completesMetrics(c)
	completes(c, "workload", fromRuns(workloadsOf))
	c.Flags().StringSliceVar(&opts.Engines, "engine", nil, "only the environments of these engines, e.g. to make the matrix complete")
	completes(c, "engine", fromRuns(enginesOf))
	several.addBy(c)
	return c
}

// factorsOf decomposes one workload, or all of them.
func factorsOf(res *analyze.Result, opts factors.Options) ([]*factors.Factors, error) {
	names := []string{opts.Workload}
	if opts.Workload == "" {
		names = factors.Groups(res)
	}
	if len(names) == 0 {
		return nil, fail(Failed, "finding the factors of run %s: it has no workload", res.Run.ID)
	}
	all := []*factors.Factors{}
	for _, n := range names {
		opts.Workload = n
		f, err := factors.Of(res, opts)
		if err != nil {
			return nil, fail(Usage, "finding the factors of run %s: %w", res.Run.ID, err)
		}
		all = append(all, f)
	}
	return all, nil
}

// factorsOnHosts decomposes one workload, or all of the first run, over hosts.
func factorsOnHosts(groups []hostRuns, opts factors.Options) ([]*factors.OverHosts, error) {
	every := factors.EveryOnHosts(opts)
	for _, g := range groups {
		for _, dir := range g.dirs {
			res, err := readResult(dir)
			if err != nil {
				return nil, err
			}
			if err := every.Add(g.label, res); err != nil {
				return nil, fail(Usage, "finding the factors of %s: %w", dir, err)
			}
		}
	}
	all := every.Result()
	if len(all) == 0 {
		return nil, fail(Failed, "finding the factors: the runs have no workload")
	}
	return all, nil
}
