package cli

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/history"
	"plimsoll/internal/understand/plot"
	"plimsoll/internal/understand/report"
)

// historyFlags are how many runs are looked through for changes.
type historyFlags struct {
	printing
	threshold, against string
	filters            []string
	seed               uint64
	gate, strict       bool
	picture            pictureFlags
}

func historyCommand(w World) *cobra.Command {
	f := historyFlags{printing: printing{format: "text"}, against: "auto"}
	c := &cobra.Command{
		Use:   "history DIR...",
		Short: "Find when something became faster or slower, over many runs",
		Long: `Orders runs by their start and looks in each environment for changes of level, in
the ratios to a baseline (native, floor) that ran in the same session. Each DIR is
a run, or a folder of runs. Runs of another machine, protocol or study form
histories of their own.

A change is reported if it is larger than the threshold and the next run confirms
it. It takes 8 runs to find one, and 10 or more to find one that only the last two
runs have.

--fail-on-change makes it a gate: it fails (status 3) if the last change of any
series is for the worse, or if the last run has lost a value. With
--strict, status 4 says that it could not tell.`,
		Example: `  plimsoll history results
  plimsoll history results/2026-* --threshold 10%
  plimsoll history results --filter environment=podman,docker --filter metric=startup,create
  plimsoll history results --fail-on-change --format json -o history.json
  plimsoll history results --format svg -o history.svg`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: completeFolders,
		RunE: func(c *cobra.Command, dirs []string) error {
			if !isPicture(f.format) {
				if err := misplaced(c, f.format); err != nil {
					return err
				}
			} else if err := noTerminal(w, f.format, f.output); err != nil {
				return err
			}
			o, err := f.options()
			if err != nil {
				return err
			}
			h, err := histories(dirs, o)
			if err != nil {
				return err
			}
			if f.gate {
				h.Judge()
			}
			if err := f.print(w, h); err != nil {
				return err
			}
			return f.status(w, h)
		},
	}
	f.add(c, append(report.Histories.Formats(), plot.Formats()...)...)
	f.picture.addSize(c)
	fl := c.Flags()
	fl.StringVar(&f.threshold, "threshold", "5%", "the smallest change to report")
	fl.StringArrayVar(&f.filters, "filter", nil, "keep the series with factor=level[,level]: environment, engine, workload, metric, or a factor such as runtime")
	choiceFlag(c, &f.against, "against", "what each run is divided by; none: absolute values", "auto", "native", "floor", "host", "none")
	fl.Uint64Var(&f.seed, "seed", 1, "seed of the permutations")
	fl.BoolVar(&f.gate, "fail-on-change", false, "gate: fail if the last change of a series is for the worse")
	fl.BoolVar(&f.strict, "strict", false, "gate: exit with status 4 if it cannot tell")
	completes(c, "filter", completeFilter)
	return c
}

func (f *historyFlags) options() (history.Options, error) {
	o := history.Options{Seed: f.seed}
	if f.strict && !f.gate {
		return o, withHint(fail(Usage, "--strict is for a gate, and none is asked for"), "give --fail-on-change")
	}
	if f.against != "auto" {
		o.Against = f.against
	}
	var err error
	if o.Threshold, err = percentage("threshold", f.threshold); err != nil {
		return o, err
	}
	o.Filter, err = filtersOf(f.filters)
	return o, err
}

// histories reads all runs. What cannot be read is left out and said.
func histories(dirs []string, o history.Options) (*history.Histories, error) {
	found, others, err := record.Find(dirs)
	if err != nil {
		return nil, withHint(fail(Failed, "%w", err), "give the directories of runs, or a folder that holds them")
	}
	var runs []history.Past
	var skipped []history.SkippedRun
	for _, dir := range others {
		skipped = append(skipped, history.SkippedRun{Dir: dir, Reason: "it holds no " + record.RunFile})
	}
	for _, dir := range found {
		res, err := readResult(dir)
		if err != nil {
			skipped = append(skipped, history.SkippedRun{Dir: dir, Reason: err.Error()})
			continue
		}
		runs = append(runs, history.Past{Dir: dir, Result: res})
	}
	h, err := history.New(runs, skipped, o)
	if err == nil {
		return h, nil
	}
	for _, s := range skipped {
		err = fmt.Errorf("%w\n%s: %s", err, s.Dir, s.Reason)
	}
	return nil, chosen(err)
}

func (f *historyFlags) print(w World, h *history.Histories) error {
	if isPicture(f.format) {
		return writePicture(w, f.output, func(out io.Writer) error { return plot.History(out, f.format, h, f.picture.Options) })
	}
	return tell(w, &f.printing, report.Histories, h)
}

// status says on standard error what was left out, so that it is seen whatever
// the format, and is what the gate makes of the exit status.
func (f *historyFlags) status(w World, h *history.Histories) error {
	if n := len(h.Skipped); n > 0 {
		fmt.Fprintf(w.Stderr, "%s%d of the directories are in no history: the report says which, and why\n", statusPrefix, n)
	}
	switch {
	case h.Gate == nil:
		return nil
	case h.Gate.State == compare.GateFails:
		return withHint(fail(GateFailed, "the gate failed"), "the report says where, and since when")
	case h.Gate.State == compare.Inconclusive && f.strict:
		return withHint(fail(GateOpen, "the gate cannot tell"), "the report says why")
	}
	return nil
}
