//go:build linux

package cli

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"plimsoll/internal/common/harmless"
	"plimsoll/internal/measure/engine"
)

// asked takes a new search from the command line.
func (b *bisectSearch) asked(s *setting, args []string, fl *pflag.FlagSet) error {
	f := b.bisectFlags
	rest := args[1:]
	if len(rest) > 0 && !strings.Contains(rest[0], "=") {
		good, bad, ok := strings.Cut(rest[0], "..")
		if !ok || strings.HasPrefix(bad, ".") {
			return fail(Usage, "%q is not a range: expected GOOD..BAD, such as v1.2..HEAD", rest[0])
		}
		if f.good != "" {
			return fail(Usage, "--good and %s are both given", rest[0])
		}
		if bad != "" && fl.Changed("bad") {
			return fail(Usage, "--bad and %s are both given", rest[0])
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
	alpha, err := chance(f.alpha)
	switch {
	case err != nil:
		return err
	case !slices.Contains(known, args[0]):
		return fail(Usage, "%q is not a program whose builds an engine can use; it can be one of %s", args[0], strings.Join(known, ", "))
	case f.good == "":
		return fail(Usage, "no good commit is given: expected GOOD..BAD, or --good")
	case f.build == "" || f.made == "":
		return withHint(fail(Usage, "--build and --program are needed: what builds a commit, and what that makes"), "such as --build make --program %s", args[0])
	case !filepath.IsLocal(f.made):
		return fail(Usage, "--program %s is not a path in the work tree", f.made)
	case f.buildLimit < time.Second:
		return fail(Usage, "--build-limit is %s: expected 1s or more", f.buildLimit)
	}
	if err := budgeted(f.budget); err != nil {
		return err
	}
	x := commitRun{betweenFlags: &f.betweenFlags, program: args[0], rest: rest}
	if f.bySize() {
		err = sizeTakes(fl, rest)
	} else {
		err = x.possible(s)
	}
	if err != nil {
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
	if err := noSearchIn(b.dir); err != nil {
		return err
	}
	b.state = &bisectState{Version: bisectStateVersion, Good: f.good, Bad: f.bad, Digests: map[string]string{}, Asked: bisectAsked{
		Program: args[0], Engine: f.engine, Rest: rest, Repo: repo, Build: f.build, Made: f.made, BuildLimit: f.buildLimit, FirstParent: f.firstParent,
		Workload: f.workload, Metric: f.metric, Budget: f.budget, Alpha: alpha, Seed: f.seed, Tuned: f.tuned}}
	return nil
}

// chance reads --error.
func chance(text string) (float64, error) {
	alpha, err := percentage("error", text)
	if err == nil && (alpha == 0 || alpha > 0.5) {
		err = fail(Usage, "--error is %q: expected a percentage above 0%% and at most 50%%", text)
	}
	return alpha, err
}

// keepsSearch refuses what would change a search that is gone on with.
func keepsSearch(fl *pflag.FlagSet, args []string) error {
	var no []string
	if len(args) > 0 {
		no = append(no, "program and no range ("+strings.Join(args, " ")+")")
	}
	no = append(no, changed(fl, "repo", "good", "bad", "build", "program", "build-limit", "first-parent", "error", "keep", "engine", "workload", "metric", "budget", "seed", "tuned")...)
	if len(no) == 0 {
		return nil
	}
	return withHint(fail(Usage, "--resume goes on with what was asked: it takes no %s", strings.Join(no, " and no ")), "leave it out, or begin a new search")
}

// again takes a search that was cut off as it stands. Its own words are executed, as are
// those of its repository's settings.
func (b *bisectSearch) again() error {
	var err error
	if b.dir, err = filepath.Abs(b.resumed); err != nil {
		return fail(Failed, "finding %s: %w", b.resumed, err)
	}
	if b.state, err = readBisectState(b.dir); err != nil {
		return err
	}
	a := b.state.Asked
	if _, err := trustFiles(b.world, "search", "it builds each commit by "+harmless.ShellWord(a.Build), b.trust, b.dir, filepath.Join(b.dir, bisectFile)); err != nil {
		return err
	}
	b.engine, b.workload, b.metric, b.budget, b.seed, b.tuned = a.Engine, a.Workload, a.Metric, a.Budget, a.Seed, a.Tuned
	return nil
}

// command is what searches the same again.
func (b *bisectSearch) command() string {
	a := &b.state.Asked
	line := shellLine{"plimsoll", "bisect", a.Program}
	line.add(true, a.Rest...)
	line.add(true, "--repo", a.Repo, "--good", b.state.Good, "--bad", b.state.Bad, "--build", a.Build, "--program", a.Made,
		"--error", fmt.Sprintf("%g%%", 100*a.Alpha), "--budget", a.Budget.String(), "--workload", a.Workload)
	line.add(a.Engine != "", "--engine", a.Engine)
	line.add(a.Metric != "", "--metric", a.Metric)
	line.add(a.BuildLimit != bisectBuildLimit, "--build-limit", a.BuildLimit.String())
	line.add(a.Seed != 0, "--seed", fmt.Sprint(a.Seed))
	line.add(a.FirstParent, "--first-parent")
	line.add(a.Tuned, "--tuned")
	return harmless.ShellLine(line)
}
