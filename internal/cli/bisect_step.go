//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/understand/analyze/bisection"
	"plimsoll/internal/understand/analyze/releases"
	"plimsoll/internal/understand/report"
	"plimsoll/internal/understand/words"
)

// What git bisect run takes an exit status for: all from 1 to 127 but 125 are bad, and
// from 128 on it ends.
const (
	stepGood  Status = 0
	stepBad   Status = 1
	stepSkip  Status = 125
	stepAbort Status = 128
)

func bisectStepCommand(w World) *cobra.Command {
	var f betweenFlags
	alpha, dir := "0.5%", ""
	c := &cobra.Command{
		Use:   "step PROGRAM GOOD BAD CANDIDATE [NAME=LEVEL…]",
		Short: "Say whether a build is like the good one or like the bad one, for git bisect run",
		Long: `Measures the file CANDIDATE with the files GOOD and BAD in the same blocks, three builds
of PROGRAM, and says by the exit status which of them it is like: 0 like GOOD, 1 like
BAD, 125 if it can't be decided or does not run. 128 and above is an error, which ends
git bisect run. With --metric size the sizes of the files decide: nothing is measured.`,
		Example:     `  git bisect run sh -c 'make || exit 125; plimsoll bisect step crun /opt/good/crun /opt/bad/crun ./crun'`,
		Annotations: map[string]string{usageStatus: strconv.Itoa(int(stepAbort))},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 4 {
				return errors.New("expected a program and the files of three builds of it")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0:
				return buildable(w), cobra.ShellCompDirectiveNoFileComp
			case len(args) < 4:
				return nil, cobra.ShellCompDirectiveDefault
			}
			return completeBuildLevels(w, f.engine, args[0], typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			verdict, err := f.step(c.Context(), w, args, alpha, dir, c.Flags())
			switch {
			case err != nil:
				return aborted(err)
			case verdict == bisection.AsGood:
				return nil
			case verdict == bisection.AsBad:
				return quiet(stepBad)
			}
			return quiet(stepSkip)
		},
	}
	f.add(c, w, "the time that it may take")
	c.Flags().StringVar(&alpha, "error", alpha, "the chance of a wrong decision of this step")
	c.Flags().StringVarP(&dir, "record", "d", "", "directory of the record (default plimsoll-run-TIME-bisect-PROGRAM)")
	completesFolders(c, "record")
	return c
}

// aborted gives an error a status that git bisect run does not take for bad.
func aborted(err error) error {
	var e *exitError
	if errors.As(err, &e) && e.status >= stepAbort {
		return err
	}
	out := &exitError{status: stepAbort, err: err}
	if e != nil {
		out.hint = e.hint
	}
	return out
}

// step measures one build between two.
func (f *betweenFlags) step(ctx context.Context, w World, args []string, level, dir string, fl *pflag.FlagSet) (bisection.Verdict, error) {
	alpha, err := chance(level)
	if err != nil {
		return "", err
	}
	if err := budgeted(f.budget); err != nil {
		return "", err
	}
	if !f.bySize() { // what is only looked at has no record
		if err := takesRecord(dir); err != nil {
			return "", err
		}
	}
	s, err := newSetting(w)
	if err != nil {
		return "", err
	}
	dirNow, err := os.Getwd()
	if err != nil {
		return "", fail(Failed, "finding the working directory: %w", err)
	}
	x := commitRun{betweenFlags: f, program: args[0], rest: args[4:], kind: bisection.Candidate, test: bisection.Test{Alpha: alpha}}
	if f.bySize() {
		err = sizeTakes(fl, x.rest)
	} else {
		err = x.possible(s)
	}
	if err != nil {
		return "", err
	}
	for i, l := range []string{goodLevel, badLevel, candidateLevel} {
		a, err := build.Parse(args[0]+":"+l+"="+args[1+i], "the build", dirNow)
		if err != nil {
			return "", fail(Usage, "%w", err)
		}
		b, err := s.bind(ctx, []build.Asked{a})
		if err != nil && l == candidateLevel {
			fmt.Fprintf(w.Stdout, "%s: skipped: %v\n", words.Clean(args[0]), words.Clean(err.Error()))
			return bisection.Skipped, nil
		}
		if err != nil {
			return "", fail(Usage, "%w", err)
		}
		x.builds = append(x.builds, b...)
	}
	if f.bySize() {
		x.metrics = releases.Size
		x.finding, x.why = sized(x.kind, x.builds)
		if x.finding.Verdict == bisection.Unseen { // no other commit would change that
			return "", fail(Usage, "%s", x.why)
		}
	} else if x.dir, err = outputDir(dir, "bisect-"+args[0]); err != nil {
		return "", err
	} else if err := x.run(w); err != nil {
		return "", err
	}
	fmt.Fprintln(w.Stdout, report.StepSentence(x.program, x.metrics, x.title, x.finding, x.why))
	return x.finding.Verdict, nil
}
