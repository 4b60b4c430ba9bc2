//go:build linux

package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/timeline"
)

// allThere stands for every engine that can be used here.
const allThere = "all"

// fewStarts are how many are followed of each row of a table unless somebody says how
// many; longestRound is how long a round of them may take, by what a smaller one took.
const (
	fewStarts    = 3
	longestRound = 20 * time.Second
)

// ranges refuses what can't be followed.
func (f *explainFlags) ranges(c *cobra.Command, args []string) error {
	for _, n := range f.together {
		if n < 1 || n > 64 {
			return fail(Usage, "--at-once is %d: expected 1 to 64", n)
		}
	}
	switch {
	case f.stop == "":
		return nil
	case !slices.Contains([]string{"exit", "ignore", "none"}, f.stop):
		return fail(Usage, "--stop is %q: expected exit, ignore or none, what the program does at SIGTERM", f.stop)
	case c.ArgsLenAtDash() == 0:
		return fail(Usage, "--stop is for environments: plimsoll explain ENGINE --stop %s", f.stop)
	case f.many(c, args) || f.together[0] > 1:
		return fail(Usage, "--stop and --at-once can't be given together: one container is stopped at a time")
	}
	return nil
}

// many says whether a table of rates is asked for.
func (f *explainFlags) many(c *cobra.Command, args []string) bool {
	return len(f.together) != 1 || c.ArgsLenAtDash() != 0 && args[0] == allThere
}

// rates follows starts, alone and more and more at once, of one environment after the
// other or of a command.
func (f *explainFlags) rates(w World, c *cobra.Command, args []string) error {
	switch {
	case c.Flags().Changed("against"):
		return fail(Usage, "--at-once and --against can't be given together")
	case f.keep != "":
		return fail(Usage, "--keep is for the starts of environments, one at a time: plimsoll explain ENGINE --keep DIR")
	case !slices.Contains(report.Rates.Formats(), f.format):
		return fail(Usage, "--format %s is for one start alone: choose one of %s", f.format, strings.Join(report.Rates.Formats(), ", "))
	case len(f.together) == 0:
		return fail(Usage, "--at-once names no number")
	}
	again := []string{"explain", "--at-once", strings.ReplaceAll(numbers(f.together), " ", "")}
	if c.ArgsLenAtDash() == 0 {
		again = append(again, "--")
	}
	if err := rooted(append(again, args...)...); err != nil {
		return err
	}
	if !f.asked {
		f.starts = fewStarts
	}
	slices.Sort(f.together)
	f.together = slices.Compact(f.together)
	x := &timeline.Rates{Starts: f.starts}
	if c.ArgsLenAtDash() == 0 {
		err := f.more(x, strings.Join(args, " "), func() (*timeline.Explanation, error) { return f.command(w, args) },
			func() (*timeline.Comparison, error) { return f.rate(w, args) })
		return f.tellRates(w, x, err)
	}
	groups, err := askedEnvironments(w, args)
	if err != nil {
		return err
	}
	for _, env := range groups {
		err := f.more(x, strings.Join(env, " "), func() (*timeline.Explanation, error) { return f.environment(w, env) },
			func() (*timeline.Comparison, error) { return f.environmentRate(w, env) })
		if err != nil {
			return f.tellRates(w, x, err)
		}
	}
	return f.tellRates(w, x, nil)
}

// tellRates prints what there is; what ended it early is an error beside that.
func (f *explainFlags) tellRates(w World, x *timeline.Rates, early error) error {
	switch {
	case len(x.Rows) == 0 && early == nil:
		return fail(NothingHere, "nothing could be started here: %s", strings.Join(x.Lacking, "; "))
	case len(x.Rows) == 0:
		return early
	}
	return errors.Join(tell(w, &f.printing, report.Rates, x), early)
}

// more adds the rows of one environment or command. Its error ends everything.
func (f *explainFlags) more(x *timeline.Rates, what string, alone func() (*timeline.Explanation, error), together func() (*timeline.Comparison, error)) error {
	last := timeline.RateRow{}
	for i, n := range f.together {
		row := timeline.RateRow{What: what, AtOnce: n}
		if takes := time.Duration(float64(n) / max(last.PerSecond, 1e-9) * 1e9); i > 0 && last.PerSecond > 0 && takes > longestRound {
			row.Missing = fmt.Sprintf("left out: a round would take %s or so", takes.Round(time.Second))
			x.Rows = append(x.Rows, row)
			continue
		}
		var err error
		f.fewer = 0
		if f.atOnce = n; n == 1 {
			var e *timeline.Explanation
			if e, err = alone(); err == nil {
				row = timeline.AloneRow(e)
			}
		} else {
			var c *timeline.Comparison
			if c, err = together(); err == nil {
				row = c.Row()
			}
		}
		switch failed, _ := errors.AsType[*exitError](err); {
		case err == nil:
			last, row.What = row, what
		case failed == nil || failed.status == Interrupted || failed.status == Usage:
			return err
		case i == 0 && failed.status == NothingHere:
			x.Lacking = append(x.Lacking, err.Error())
			return nil
		default:
			row.Missing = err.Error()
		}
		x.Rows = append(x.Rows, row)
	}
	return nil
}

// askedEnvironments reads several environments: a word that is no FACTOR=LEVEL begins the
// next one. All are those of this machine, of a bare runtime each that it has.
func askedEnvironments(w World, args []string) (all [][]string, err error) {
	if args[0] != allThere {
		for i, word := range args {
			if i == 0 || !strings.Contains(word, "=") {
				all = append(all, nil)
			}
			all[len(all)-1] = append(all[len(all)-1], word)
		}
		return all, nil
	}
	s, err := newSetting(w)
	if err != nil {
		return nil, err
	}
	for _, e := range s.engines {
		switch i := e.Info(); {
		case i.Baseline || i.Simulated:
		case i.OCI && i.InPlace:
			for _, r := range i.Levels[engine.Runtime] {
				all = append(all, append([]string{i.Name, engine.Runtime + "=" + r}, args[1:]...))
			}
		default:
			all = append(all, append([]string{i.Name}, args[1:]...))
		}
	}
	return all, nil
}
