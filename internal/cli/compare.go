package cli

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/yamlfile"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/analyze/gate"
	"plimsoll/internal/understand/report"
)

// compareFlags are how two runs are compared, and what a gate lets pass.
type compareFlags struct {
	gateFlags
	printing
	envs, filters  []string
	history        []string
	row, col       []string
	against, delta string
	quantile       float64
	hosts          hostFlags
}

func compareCommand(w World) *cobra.Command {
	f := compareFlags{printing: printing{format: "text"}, against: "auto"}
	c := &cobra.Command{
		Use:   "compare BASE [NEW]",
		Short: "Show what changed between two runs, or two environments of one, and gate on it",
		Long: `Compares what two runs have in common, by workload, metric and environment, or
two environments of one run (--env twice). Two runs share no block, so what the
baselines (native, floor) of the same block carry is first taken out of each
value, with a weight that is learnt from the scatter: as far as they tell, that
cancels how fast the machine was on either day. --history gives earlier runs of the
same thing, which show the scatter between runs.

With a folder of runs from several hosts on either side, each host's run is compared
with its own, and the ratios are pooled over hosts.

--fail-above makes it a gate: it fails (status 3) if a whole interval is worse by
more than that, if a value is lost, or if trials fail more often. With --strict,
status 4 says that it could not tell.`,
		Example: `  plimsoll compare before after
  plimsoll compare before after --fail-above 5% --format junit -o gate.xml
  plimsoll compare before after --thresholds gate.yaml --strict
  plimsoll compare before after --filter metric=startup --row engine --col runtime
  plimsoll compare before after --quantile 95
  plimsoll compare before after --history results
  plimsoll compare run-1 --env crun --env runc
  plimsoll compare results-before/ results-after/
  plimsoll compare results/ --env crun --env runc`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeFolders,
		RunE: func(_ *cobra.Command, dirs []string) error {
			if done, err := f.onHosts(w, dirs); done || err != nil {
				return err
			}
			o, err := f.options()
			if err != nil {
				return err
			}
			thresholds, err := f.thresholds()
			if err != nil {
				return err
			}
			if thresholds != nil {
				thresholds.Absolute = f.against == "none"
				o.Metrics = thresholds.Metrics()
			}
			changes, err := f.compare(dirs, o)
			if err != nil {
				return err
			}
			if thresholds != nil {
				if err := gate.Judge(changes, *thresholds); err != nil {
					return refused(err)
				}
			}
			if err := tell(w, &f.printing, report.Changes, changes); err != nil {
				return err
			}
			summariseChanges(w, changes)
			return gateStatus(changes.Gate, f.strict)
		},
	}
	f.printing.add(c, report.Changes.Formats()...)
	fl := c.Flags()
	fl.StringArrayVar(&f.envs, "env", nil, "with a single run, one of its environments: give it twice, BASE first")
	fl.StringArrayVar(&f.filters, "filter", nil, "keep the cells with factor=level[,level]: environment, engine, workload, metric, or a factor such as runtime")
	fl.StringSliceVar(&f.row, "row", nil, "factors whose levels are the rows of one table")
	fl.StringSliceVar(&f.col, "col", nil, "factors whose levels are its columns")
	choiceFlag(c, &f.against, "against", "what two runs are divided by before they are compared; none: absolute values; auto: what helps, of all baselines", "auto", "native", "floor", "host", "none")
	fl.StringArrayVar(&f.history, "history", nil, "earlier runs of the same thing, or a folder of them: the scatter between runs enters the intervals")
	fl.Float64Var(&f.quantile, "quantile", 0, "compare this quantile too, in per cent: 95 needs 72 values on either side, 99 needs 368")
	fl.StringVar(&f.delta, "delta", "", "the smallest difference that matters (default: the study's, 1%)")
	f.hosts.addBy(c)
	f.gateFlags.add(c)
	fl.StringVar(&f.noise, "noise", "", "refuse thresholds under the noise floor in this file, from plimsoll selftest --format json")
	completes(c, "env", fromRuns(environmentsOf))
	completes(c, "filter", completeFilter)
	completes(c, "row", fromRuns(factorsOfRun, cellFactors...))
	completes(c, "col", fromRuns(factorsOfRun, cellFactors...))
	completesFolders(c, "history")
	completesPaths(c, []string{"json"}, "noise")
	return c
}

var isPercentage = regexp.MustCompile(yamlfile.PercentPattern).MatchString

// percentage reads "5%" as 0.05; "" is 0.
func percentage(flag, s string) (float64, error) {
	if s == "" {
		return 0, nil
	}
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	if err != nil || !isPercentage(s) || v <= 0 || v > 100 {
		return 0, fail(Usage, "--%s is %q: expected a percentage above 0%% and at most 100%%, such as 5%%", flag, s)
	}
	return v / 100, nil
}

func (f *compareFlags) options() (compare.Options, error) {
	o := compare.Options{Row: f.row, Col: f.col}
	if f.against != "auto" {
		o.Against = f.against
	}
	var err error
	if o.Delta, err = percentage("delta", f.delta); err != nil {
		return o, err
	}
	if o.Quantile = f.quantile / 100; f.quantile != 0 && !(f.quantile >= 50 && f.quantile <= 99.9) {
		return o, fail(Usage, "--quantile is %g: expected per cent from 50 to 99.9, such as 95", f.quantile)
	}
	o.Filter, err = filtersOf(f.filters)
	return o, err
}

// filtersOf reads all that --filter says.
func filtersOf(texts []string) ([]compare.Filter, error) {
	all, err := lists.Try(texts, compare.ParseFilter)
	if err != nil {
		return nil, fail(Usage, "--%w", err)
	}
	return all, nil
}

// givenWith says what is given to compare: runs, and how many of their environments.
func givenWith(runs string, n int) string {
	switch n {
	case 0:
		return runs + " is given"
	case 1:
		return runs + " and one environment are given"
	}
	return fmt.Sprintf("%s and %d environments are given", runs, n)
}

func (f *compareFlags) compare(dirs []string, o compare.Options) (*compare.Changes, error) {
	switch {
	case len(dirs) == 1 && len(f.envs) != 2:
		return nil, withHint(fail(Usage, "%s: there is nothing to compare", givenWith("one run", len(f.envs))), "give a second run, or two environments of this one by --env A --env B")
	case len(dirs) == 2 && len(f.envs) > 0:
		return nil, withHint(fail(Usage, "--env is for two environments of one run, and two runs are given"), "--filter environment=%s keeps one environment of both", f.envs[0])
	}
	if len(f.history) > 0 && (len(dirs) == 1 || o.Against != "") {
		return nil, withHint(fail(Usage, "--history is for two runs, with the weights of the baselines learnt"), "leave --env and --against out")
	}
	results, err := lists.Try(dirs, func(dir string) (*analyze.Result, error) {
		return readWith(dir, evaluate.Options{Values: f.quantile != 0})
	})
	if err != nil {
		return nil, err
	}
	var c *compare.Changes
	if o.Earlier, err = earlierRuns(f.history); err != nil {
		return nil, err
	}
	if len(dirs) == 1 {
		envs := results[0].Whole(f.envs)
		c, err = compare.Within(results[0], envs[0], envs[1], o)
	} else {
		c, err = compare.Between(results[0], results[1], o)
	}
	if err != nil {
		return nil, chosen(err)
	}
	return c, nil
}

// earlierRuns reads runs, and folders of runs.
func earlierRuns(dirs []string) ([]*analyze.Result, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	found, _, err := record.Find(dirs)
	if err != nil {
		return nil, withHint(fail(Failed, "%w", err), "give the directories of runs, or a folder that holds them")
	}
	return lists.Try(found, readResult)
}
