//go:build linux

package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
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
}

// The defaults of a search.
const (
	bisectBudget     = 3 * time.Minute
	bisectBuildLimit = 30 * time.Minute
	bisectAlpha      = "5%"
)

func (f *betweenFlags) add(c *cobra.Command, w World, budget string) {
	fl := c.Flags()
	f.workload, f.budget, f.progress = lifeCycle, bisectBudget, "auto"
	fl.StringVar(&f.engine, "engine", "", "the engine that runs the program (default: the program's own, and none above a runtime)")
	fl.StringVar(&f.workload, "workload", f.workload, "what runs in the containers (plimsoll workloads)")
	fl.StringVar(&f.metric, "metric", "", "decide by this metric (default: the workload's first, else startup)")
	fl.DurationVar(&f.budget, "budget", f.budget, budget)
	fl.Uint64Var(&f.seed, "seed", 0, "seed of the order (0: drawn and recorded)")
	fl.BoolVar(&f.tuned, "tuned", false, "meanwhile set what makes starts scatter less on this machine, and put it back (plimsoll tune lists it)")
	fl.BoolVar(&f.wait, "wait", false, "wait for your turn if another Plimsoll is measuring on this machine: first come, first served")
	fl.BoolVar(&f.force, "force", false, "measure even if doctor refuses")
	choiceFlag(c, &f.progress, "progress", "how to show progress", "auto", "bar", "plain", "json", "none")
	_ = c.RegisterFlagCompletionFunc("workload", completeWorkloads) // it fails only for a flag that is not there
	completesEngines(c, w)
}

func bisectCommand(w World) *cobra.Command {
	f := bisectFlags{printing: printing{format: "text"}}
	c := &cobra.Command{
		Use:   "bisect PROGRAM [GOOD..BAD] [NAME=LEVEL…]",
		Short: "Find the commit that made an engine or a runtime slower",
		Long: `Builds commits of a Git repository between a good and a bad one, measures each with
both of them in the same blocks, and finds the commit that made PROGRAM slower, or worse
by another metric. The repository is only read: the work trees are clones of our own.

Each step takes as many blocks as it needs to tell on which side of the middle a commit
lies. The chance that any of the decisions is wrong is bounded by --error. What can't be
built or doesn't run is passed over. A search that was cut off goes on with --resume.

The status is 0 where a commit was found, or a few of which one it is, and 4 where the
machine could not tell.`,
		Example: `  plimsoll bisect crun 1.8..HEAD --repo ~/src/crun --program crun --build './autogen.sh && ./configure && make'
  plimsoll bisect runc --good v1.1.0 --bad main --first-parent --program runc --build 'make static'
  plimsoll bisect crun HEAD~20..HEAD client=steps --metric create --program crun --build make
  plimsoll bisect --resume plimsoll-bisect-20260102-030405-crun`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && f.resumed == "" {
				return errors.New("expected a program: plimsoll bisect PROGRAM GOOD..BAD")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return buildable(w), cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error { return f.bisect(w, args) },
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
	fl.BoolVar(&f.firstParent, "first-parent", false, "of merges follow the first parent alone")
	fl.StringVar(&f.alpha, "error", bisectAlpha, "the chance of a wrong decision, over all steps")
	fl.StringVar(&f.keep, "keep", "", "directory of the search with its records (default plimsoll-bisect-TIME-PROGRAM)")
	fl.StringVar(&f.resumed, "resume", "", "go on with the search in this directory, or print what it found")
	c.AddCommand(bisectStepCommand(w))
	return c
}

// bisect searches, and tells what was found.
func (f *bisectFlags) bisect(w World, args []string) error {
	w, finish, _, stop := w.interrupts()
	defer stop()
	s, err := newSetting(w)
	if err != nil {
		return err
	}
	b := &bisectSearch{bisectFlags: f, world: w}
	if f.resumed != "" {
		err = b.again(args)
	} else {
		err = b.asked(s, args)
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
		if f.tuned {
			if err := canTune(); err != nil {
				return err
			}
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

// asked takes a new search from the command line.
func (b *bisectSearch) asked(s *setting, args []string) error {
	f := b.bisectFlags
	rest := args[1:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		good, bad, ok := strings.Cut(rest[0], "..")
		if !ok || strings.HasPrefix(bad, ".") {
			return fail(Usage, "%q is no range: expected GOOD..BAD, such as v1.2..HEAD", rest[0])
		}
		if f.good != "" {
			return fail(Usage, "--good and %s are both given", rest[0])
		}
		f.good, rest = good, rest[1:]
		if bad != "" {
			f.bad = bad
		}
	}
	var known []string
	for _, p := range engine.AllPrograms(s.engines) {
		known = append(known, p.Name)
	}
	alpha, err := percentage("error", f.alpha)
	switch {
	case err != nil:
		return err
	case alpha == 0 || alpha > 0.5:
		return fail(Usage, "--error is %q: expected a percentage above 0%% and at most 50%%", f.alpha)
	case !slices.Contains(known, args[0]):
		return fail(Usage, "%q is no program of which an engine takes a build; it can be one of %s", args[0], strings.Join(known, ", "))
	case f.good == "":
		return fail(Usage, "no good commit is given: expected GOOD..BAD, or --good")
	case f.build == "" || f.made == "":
		return withHint(fail(Usage, "--build and --program are needed: what builds a commit, and what that makes"), "such as --build make --program %s", args[0])
	case !filepath.IsLocal(f.made):
		return fail(Usage, "--program %s is no path in the work tree", f.made)
	case f.buildLimit < time.Second:
		return fail(Usage, "--build-limit is %s: expected 1s or more", f.buildLimit)
	}
	if err := budgeted(f.budget); err != nil {
		return err
	}
	repo, err := filepath.Abs(f.repo)
	if err != nil {
		return fail(Failed, "finding %s: %w", f.repo, err)
	}
	if b.dir = f.keep; b.dir == "" {
		b.dir = fmt.Sprintf("plimsoll-bisect-%s-%s", time.Now().Format("20060102-150405"), args[0])
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return fail(Failed, "finding %s: %w", f.keep, err)
	}
	b.state = &bisectState{Version: bisectStateVersion, Good: f.good, Bad: f.bad, Digests: map[string]string{}, Asked: bisectAsked{
		Program: args[0], Engine: f.engine, Rest: rest, Repo: repo, Build: f.build, Made: f.made, BuildLimit: f.buildLimit, FirstParent: f.firstParent,
		Workload: f.workload, Metric: f.metric, Budget: f.budget, Alpha: alpha, Seed: f.seed, Tuned: f.tuned}}
	return nil
}

// again takes a search that was cut off as it stands.
func (b *bisectSearch) again(args []string) error {
	if len(args) > 0 {
		return fail(Usage, "--resume goes on with what was asked: it takes no program and no range")
	}
	var err error
	if b.dir, err = filepath.Abs(b.resumed); err != nil {
		return fail(Failed, "finding %s: %w", b.resumed, err)
	}
	if b.state, err = readBisectState(b.dir); err != nil {
		return err
	}
	a := b.state.Asked
	b.engine, b.workload, b.metric, b.budget, b.seed, b.tuned = a.Engine, a.Workload, a.Metric, a.Budget, a.Seed, a.Tuned
	return nil
}

// command is what searches the same again.
func (b *bisectSearch) command() string {
	a := &b.state.Asked
	line := append([]string{"plimsoll", "bisect", a.Program}, a.Rest...)
	line = append(line, "--repo", a.Repo, "--good", b.state.Good, "--bad", b.state.Bad, "--build", a.Build, "--program", a.Made,
		"--error", fmt.Sprintf("%g%%", 100*a.Alpha), "--budget", a.Budget.String(), "--workload", a.Workload)
	if a.Engine != "" {
		line = append(line, "--engine", a.Engine)
	}
	if a.Metric != "" {
		line = append(line, "--metric", a.Metric)
	}
	if a.FirstParent {
		line = append(line, "--first-parent")
	}
	if a.Tuned {
		line = append(line, "--tuned")
	}
	return harmless.ShellLine(line)
}
