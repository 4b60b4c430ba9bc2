//go:build linux

package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/understand/report"
)

// bisectFlags are how a commit is searched for.
type bisectFlags struct {
	printing
	betweenFlags
	repo        string
	good, bad   string
	build       string
	made        string
	buildLimit  time.Duration
	firstParent bool
	alpha       string
	keep        string
	resumed     string
	trust       bool
}

// The defaults of a search.
const (
	bisectBudget     = 3 * time.Minute
	bisectBuildLimit = 30 * time.Minute
	bisectAlpha      = "5%"
)

func (f *betweenFlags) add(c *cobra.Command, w World, budget string) {
	fl := c.Flags()
	f.workload, f.budget = lifeCycle, bisectBudget
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the program (default: the program's own, and none above a runtime)")
	fl.StringVar(&f.workload, "workload", f.workload, "what runs in the containers (plimsoll workloads)")
	fl.StringVar(&f.metric, "metric", "", "decide by this metric, or by size, that of the program's file (default: the workload's first, else startup)")
	fl.DurationVar(&f.budget, "budget", f.budget, budget)
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	fl.BoolVar(&f.tuned, "tuned", false, "meanwhile set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it)")
	f.addTurn(c)
	completes(c, "workload", completeWorkloads)
	completesEngines(c, w)
	completesMetric(c)
}

func bisectCommand(w World) *cobra.Command {
	f := bisectFlags{printing: printing{format: "text"}}
	c := &cobra.Command{
		Use:   "bisect PROGRAM [GOOD..BAD] [NAME=LEVEL…]",
		Short: "Find the commit that made an engine or a runtime slower or larger",
		Long: `Builds commits of a Git repository between a good and a bad one, measures each with
both of them in the same blocks, and finds the commit that made PROGRAM slower, or worse
by another metric; with --metric size the one that made its file larger, which takes no
measuring. The repository is only read: the work trees are clones.

Each step takes as many blocks as it needs to tell on which side of the middle a commit
lies. The chance that any of the decisions is wrong is at most --error. Commits that
can't be built or don't run are passed over. --resume continues a search that was cut off.

The status is 0 if a commit was found, or a few of which it is one, and 4 if the machine
could not tell.`,
		Example: `  plimsoll bisect crun 1.8..HEAD --repo ~/src/crun --program crun --build './autogen.sh && ./configure && make'
  plimsoll bisect runc --good v1.1.0 --bad main --first-parent --program runc --build 'make static'
  plimsoll bisect crun HEAD~20..HEAD client=steps --metric create --program crun --build make
  plimsoll bisect crun 1.8..HEAD --metric size --program crun --build 'make && strip crun'
  plimsoll bisect --resume plimsoll-bisect-20260102-030405-crun`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && f.resumed == "" {
				return errors.New("expected a program: plimsoll bisect PROGRAM GOOD..BAD")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return buildable(w), cobra.ShellCompDirectiveNoFileComp
			}
			return completeBuildLevels(w, f.engine, args[0], typed)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if f.resumed != "" {
				if err := keepsSearch(c.Flags(), args); err != nil {
					return err
				}
			} else if f.trust {
				return fail(Usage, "--trust-record is for --resume: a new search has no record yet")
			}
			return f.bisect(w, args, c.Flags())
		},
	}
	f.printing.add(c, report.Bisections.Formats()...)
	f.betweenFlags.add(c, w, "the time that measuring one commit may take")
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the repository, or a directory in it")
	fl.StringVar(&f.good, "good", "", "the good commit, instead of GOOD..BAD")
	fl.StringVar(&f.bad, "bad", "HEAD", "the bad commit")
	fl.StringVar(&f.build, "build", "", "the command that builds, for the shell, in a work tree (required)")
	fl.StringVar(&f.made, "program", "", "the program that it makes, a path in the work tree (required)")
	fl.DurationVar(&f.buildLimit, "build-limit", bisectBuildLimit, "the time that one build may take")
	fl.BoolVar(&f.firstParent, "first-parent", false, "follow only the first parent of merges")
	fl.StringVar(&f.alpha, "error", bisectAlpha, "the chance of a wrong decision, over all steps")
	fl.StringVar(&f.keep, "keep", "", "directory of the search with its records (default plimsoll-bisect-TIME-PROGRAM)")
	fl.StringVar(&f.resumed, "resume", "", "go on with the search in this directory, or print what it found")
	fl.BoolVar(&f.trust, "trust-record", false, "go on with a search that belongs to another user: what it says is executed")
	completesFolders(c, "repo", "keep", "resume")
	completesPaths(c, nil, "program")
	c.AddCommand(bisectStepCommand(w))
	return c
}

// bisect searches, and tells what was found.
func (f *bisectFlags) bisect(w World, args []string, fl *pflag.FlagSet) error {
	w, finish, _, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	b := &bisectSearch{bisectFlags: f, world: w}
	if f.resumed != "" {
		err = b.again()
	} else {
		err = b.asked(s, args, fl)
	}
	if err != nil {
		return err
	}
	if err := b.begin(finish); err != nil {
		return err
	}
	if f.resumed == "" {
		if err := newBisectDir(w, b.dir); err != nil {
			return err
		}
		if err := b.state.write(w, b.dir); err != nil {
			return fail(Failed, "%w", err)
		}
	}
	if _, more := b.search.Next(); more {
		if err := canTune(f.tuned); err != nil {
			return err
		}
		if err := b.claimed(finish, s); err != nil {
			return err
		}
	}
	out, err := b.result(finish)
	if err != nil {
		return err
	}
	fmt.Fprintf(w.Stderr, "The search with its records is in %s.\n", shortPath(b.dir))
	if err := tell(w, &f.printing, report.Bisections, out); err != nil {
		return err
	}
	if !out.Named() {
		return quiet(GateOpen)
	}
	return nil
}
