//go:build linux

package cli

import (
	"errors"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/revision"
	"plimsoll/internal/understand/analyze/bisection"
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
	dir := ""
	c := &cobra.Command{
		Use:   "step PROGRAM GOOD BAD CANDIDATE [NAME=LEVEL…]",
		Short: "Judge the commit that is checked out, for git bisect run",
		Long: `Builds what is checked out here by --build, measures the file CANDIDATE that this makes
with the files GOOD and BAD in the same blocks, three builds of PROGRAM, and says in one
line which of them it is like. The exit status is what git bisect run understands: 0 like
GOOD, 1 like BAD, 125 if it can't be told, built or started. 128 and above is an error,
which ends git bisect run; that GOOD and BAD can't be told apart is one, too.

Without --build CANDIDATE is taken as it lies there. With --metric size the sizes of the
files decide: nothing is measured.`,
		Example: `  git bisect start BAD GOOD
  git bisect run plimsoll bisect step crun /opt/good/crun /opt/bad/crun ./crun --build make
  git bisect run plimsoll bisect step runc /opt/good/runc /opt/bad/runc ./runc --build 'make static' --wait --tuned`,
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
			verdict, err := f.step(w, args, dir, c.Flags())
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
	f.add(c, w, "the command that builds what is checked out, for the shell")
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

// step builds what is checked out, and measures it between two builds.
func (f *betweenFlags) step(w World, args []string, dir string, fl *pflag.FlagSet) (bisection.Verdict, error) {
	w, finish, _, stop := w.interrupts()
	defer stop()
	if !f.bySize() { // what is only looked at has no record
		if err := takesRecord(dir); err != nil {
			return "", err
		}
	}
	x, err := f.asked(w, args[0], args[4:], fl)
	if err != nil {
		return "", err
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fail(Failed, "finding the working directory: %w", err)
	}
	var candidate build.Asked
	for i, l := range []string{goodLevel, badLevel, candidateLevel} {
		if candidate, err = build.Parse(args[0]+":"+l+"="+args[1+i], "the build", here); err != nil {
			return "", fail(Usage, "%w", err)
		}
		if l == candidateLevel {
			break
		}
		b, err := x.bind(finish, candidate)
		if err != nil {
			return "", fail(Usage, "%w", err)
		}
		x.ends = append(x.ends, b)
	}
	if x.dir, err = outputDir(dir, "bisect-"+args[0]); err != nil {
		return "", err
	}
	if f.build != "" {
		err := revision.Build(finish, here, f.build, candidate.Path, w.Stderr, f.buildLimit)
		if finish.Err() != nil {
			return "", fail(Interrupted, "interrupted")
		} else if failed, ok := errors.AsType[*revision.BuildError](err); ok {
			return x.skip(failed), nil
		} else if err != nil {
			return "", fail(Failed, "building by --build: %w", err)
		}
	}
	return x.candidate(finish, candidate)
}
