package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/evaluate"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// reportFlags are how a result is printed.
type reportFlags struct {
	format string
	metric string
	output string
	audit  bool
	// overhead is a baseline, or empty.
	overhead string
	papers   bool
	over     string // a parameter, or empty
	figures  string // a study, or empty
	full     bool
	picture  pictureFlags
	style
	narrowFlags
	hostFlags
}

func (f *reportFlags) add(c *cobra.Command, formats ...string) {
	formatFlag(c, &f.format, formats...)
	c.Flags().StringVar(&f.metric, "metric", "", "the metric to rank by (default: the study's)")
	c.Flags().BoolVar(&f.full, "full", false, "print everything in a terminal too, instead of one screen")
	f.style.add(c, formats)
	completesMetrics(c)
}

func reportCommand(w World) *cobra.Command {
	f := reportFlags{format: "text"}
	c := &cobra.Command{
		Use:   "report DIR...",
		Short: "Print the result of a run, or what runs on several hosts say together",
		Long: `Prints the result of each run. Runs of one study from several hosts, or a folder of
such runs, are read together: what holds on all hosts, what only on some, and how
much hosts differ. From five hosts on there is an interval for machines in general;
below that hosts are shown one by one. --each prints the runs one after the other.`,
		Example: `  plimsoll report plimsoll-run-1
  plimsoll report plimsoll-run-1 --full
  plimsoll report plimsoll-run-1 --metric whole
  plimsoll report plimsoll-run-1 --workload redis --engine docker,podman
  plimsoll report plimsoll-run-1 --audit
  plimsoll report plimsoll-run-1 --overhead
  plimsoll report plimsoll-run-1 --overhead=floor --format csv
  plimsoll report plimsoll-run-1 --papers
  plimsoll report plimsoll-run-1 --over any
  plimsoll report plimsoll-run-1 --figures baresi2024
  plimsoll report plimsoll-run-1 --format json | jq .
  plimsoll report results/
  plimsoll report results/ --against docker --metric startup
  plimsoll report results/ --format html -o hosts.html
  plimsoll report results/ --format svg -o forest.svg
  plimsoll report --published khan2026
  plimsoll report plimsoll-run-1 --format html -o report.html
  plimsoll report plimsoll-run-1 --format svg --chart phases -o phases.svg`,
		ValidArgsFunction: completeFolders,
		RunE: func(c *cobra.Command, dirs []string) error {
			if f.published != "" {
				if len(dirs) > 0 || f.ofOneRun() || !f.choice.Empty() || f.metric != "" || f.against != "" {
					return withHint(fail(Usage, "--published prints what was published, and runs or a choice of them are given too"), "plimsoll report --published %s", f.published)
				}
				return hostsReport(w, c, nil, &f)
			}
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
			if !f.ofOneRun() {
				runs, err := f.runsOf(dirs)
				if err != nil {
					return err
				}
				if len(runs) > 0 {
					return hostsReport(w, c, runs, &f)
				}
			}
			if f.against != "" {
				return withHint(fail(Usage, "--against is for runs of several hosts that are read together"), "plimsoll compare %s --env %s --env NAME holds two environments of one run against each other", dirs[0], f.against)
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
	f.narrowFlags.add(c)
	f.hostFlags.add(c)
	c.Flags().BoolVar(&f.audit, "audit", false, "print the equivalence audit: on what terms each environment ran, and how they differ beyond what they are compared for")
	choiceFlag(c, &f.overhead, "overhead", "print the overhead against a baseline, with geometric means (any: the first of native, floor and host that ran)", append([]string{report.AnyBaseline}, analyze.Baselines...)...)
	c.Flags().Lookup("overhead").NoOptDefVal = report.AnyBaseline
	c.Flags().BoolVar(&f.papers, "papers", false, "print the published tables that the study repeats, with this run's numbers next to theirs, and nothing else")
	c.Flags().StringVar(&f.over, "over", "", "print the medians over a numeric parameter of the workloads, such as size (any: all of them); for a picture, the parameter of the chart 'parameter'")
	figuresFlag(c, &f.figures)
	c.Flags().StringVarP(&f.output, "output", "o", "", "write to this file instead of standard output")
	completes(c, "over", fromRuns(parametersOf, report.AnyParameter))
	completesPaths(c, nil, "output")
	return c
}

// ofOneRun says whether a report was asked for that is of each run by itself.
func (f *reportFlags) ofOneRun() bool {
	return f.audit || f.overhead != "" || f.papers || f.over != "" || f.figures != ""
}

// oneReport refuses several reports at once.
func (f *reportFlags) oneReport() error {
	own := []bool{f.audit, f.overhead != "", f.papers, f.over != "", f.figures != ""}
	if lists.Count(own, func(given bool) bool { return given }) > 1 {
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
		res, err := f.read(dir, evaluate.Options{})
		if err != nil {
			return err
		}
		if text := nothingYet(res, dir); text != "" {
			fmt.Fprintln(w.Stderr, statusPrefix+text)
		}
		results = append(results, res)
	}
	return f.write(w, dirs, results)
}

// write prints the runs in these directories: to a terminal the answer on one screen
// each, unless all is asked for.
func (f *reportFlags) write(w World, dirs []string, results []*analyze.Result) error {
	err := show(w, f.output, f.style, func(out io.Writer, o report.Options) error {
		o.Metric, o.Audit, o.Overhead, o.Papers, o.Over = f.metric, f.audit, f.overhead, f.papers, f.over
		for i, res := range results {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if o.Screen = nil; w.Width() > 0 && f.output == "" && !f.full {
				o.Screen = &report.Screen{Record: dirs[i], Page: pageOf(dirs[i])}
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

// pageOf is the page in a run's directory, "" where there is none.
func pageOf(dir string) string {
	path := filepath.Join(dir, pageFile)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
