package cli

import (
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// reportFlags are how a result is printed.
type reportFlags struct {
	format string
	metric string
	output string
	ascii  bool
	audit  bool
	// overhead is a baseline, or empty.
	overhead string
	papers   bool
	over     string // a parameter, or empty
	figures  string // a study, or empty
	picture  pictureFlags
}

func (f *reportFlags) add(c *cobra.Command, formats ...string) {
	formatFlag(c, &f.format, formats...)
	c.Flags().StringVar(&f.metric, "metric", "", "the metric to rank by (default: the study's)")
	c.Flags().BoolVar(&f.ascii, "ascii", false, "use ASCII characters only")
	metrics := make([]string, len(record.LifeCycle))
	for i, m := range record.LifeCycle {
		metrics[i] = m.ID + "\t" + m.What
	}
	_ = c.RegisterFlagCompletionFunc("metric", cobra.FixedCompletions(metrics, cobra.ShellCompDirectiveNoFileComp)) // it fails only for a flag that is not there
}

func reportCommand(w World) *cobra.Command {
	f := reportFlags{format: "text"}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Print the result of a run",
		Example: `  plimsoll report plimsoll-run-1
  plimsoll report plimsoll-run-1 --metric whole
  plimsoll report plimsoll-run-1 --audit
  plimsoll report plimsoll-run-1 --overhead
  plimsoll report plimsoll-run-1 --overhead=floor --format csv
  plimsoll report plimsoll-run-1 --papers
  plimsoll report plimsoll-run-1 --over any
  plimsoll report plimsoll-run-1 --figures baresi2024
  plimsoll report plimsoll-run-1 --format json | jq .
  plimsoll report plimsoll-run-1 --format html -o report.html
  plimsoll report plimsoll-run-1 --format svg --chart phases -o phases.svg`,
		RunE: func(c *cobra.Command, dirs []string) error {
			if len(dirs) == 0 {
				return whichRun("report")
			}
			if f.figures != "" {
				if err := f.oneReport(); err != nil {
					return err
				}
				if !isPicture(f.format) {
					if err := misplaced(c, f.format); err != nil {
						return err
					}
				}
				return figuresReport(w, dirs, f)
			}
			if isPicture(f.format) {
				return drawReport(w, dirs, f)
			}
			if err := misplaced(c, f.format); err != nil {
				return err
			}
			if f.format == htmlFormat {
				return htmlReport(w, dirs, f)
			}
			if err := f.oneReport(); err != nil {
				return err
			}
			dirs, err := f.takeBaseline(dirs)
			if err != nil {
				return err
			}
			return f.print(w, dirs)
		},
	}
	f.add(c, slices.Concat(report.Formats(), []string{htmlFormat}, plot.Formats())...)
	f.picture.add(c)
	c.Flags().BoolVar(&f.audit, "audit", false, "print the equivalence audit: on what terms each environment ran, and how they differ beyond what they are compared for")
	choiceFlag(c, &f.overhead, "overhead", "print the overhead against a baseline, with geometric means (any: the first of native, floor and host that ran)", append([]string{report.AnyBaseline}, analyze.Baselines...)...)
	c.Flags().Lookup("overhead").NoOptDefVal = report.AnyBaseline
	c.Flags().BoolVar(&f.papers, "papers", false, "print the published tables that the study repeats, with this run's numbers beside theirs, and nothing else")
	c.Flags().StringVar(&f.over, "over", "", "print the medians over a numeric parameter of the workloads, such as size (any: all of them); for a picture, the parameter of the chart 'parameter'")
	figuresFlag(c, &f.figures)
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to this file instead of standard output")
	return c
}

// oneReport refuses several reports at once.
func (f *reportFlags) oneReport() error {
	n := 0
	for _, given := range []bool{f.audit, f.overhead != "", f.papers, f.over != "", f.figures != ""} {
		if given {
			n++
		}
	}
	if n > 1 {
		return fail(Usage, "--audit, --overhead, --papers, --over and --figures are reports of their own: choose one")
	}
	return nil
}

// takeBaseline takes the word after a bare --overhead for its value, which a
// flag with an optional value leaves among the arguments: unless there is a
// directory of that name.
func (f *reportFlags) takeBaseline(dirs []string) ([]string, error) {
	i := slices.IndexFunc(dirs, func(d string) bool { return slices.Contains(analyze.Baselines, d) })
	if f.overhead != report.AnyBaseline || i < 0 {
		return dirs, nil
	}
	if _, err := os.Stat(dirs[i]); err == nil {
		return dirs, nil
	}
	f.overhead = dirs[i]
	if dirs = slices.Delete(slices.Clone(dirs), i, i+1); len(dirs) == 0 {
		return nil, fail(Usage, "--overhead %s of which run? name its directory: plimsoll report DIR --overhead=%s", f.overhead, f.overhead)
	}
	return dirs, nil
}

// print prints runs, one after the other.
func (f *reportFlags) print(w World, dirs []string) error {
	var results []*analyze.Result
	for _, dir := range dirs {
		res, err := readResult(dir)
		if err != nil {
			return err
		}
		if text := nothingYet(res, dir); text != "" {
			fmt.Fprintln(w.Stderr, statusPrefix+text)
		}
		results = append(results, res)
	}
	return f.write(w, results)
}

func (f *reportFlags) write(w World, results []*analyze.Result) error {
	err := show(w, f.output, f.ascii, func(out io.Writer, o report.Options) error {
		o.Metric, o.Audit, o.Overhead, o.Papers, o.Over = f.metric, f.audit, f.overhead, f.papers, f.over
		for i, res := range results {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if err := report.Write(out, f.format, res, o); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, res := range results {
		stepSummary(w, func(out io.Writer) error {
			return report.Write(out, "markdown", res, report.Options{Metric: f.metric, Brief: true})
		})
	}
	return nil
}
