//go:build linux

package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/revision"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/bisection"
)

// bisectFlags are how a commit is searched for.
type bisectFlags struct {
	betweenFlags
	repo        string
	made        string
	firstParent bool
	keep        string
}

func bisectCommand(w World) *cobra.Command {
	var f bisectFlags
	c := &cobra.Command{
		Use:   "bisect PROGRAM GOOD..BAD [NAME=LEVEL…]",
		Short: "Find the commit that made an engine or a runtime slower or larger",
		Long: `Lets git bisect search the commits of a repository between a good and a bad one for the
one that made PROGRAM slower, or worse by another metric; with --metric size for the one
that made its file larger, which takes no measuring. Both ends are built first. Then each
commit that git asks about is built and measured with both of them in the same blocks.
Commits that can't be built, started or told are skipped. The repository is only read:
the search and its work trees are in clones, which are removed at the end.

The status is 0 if git names the commit, and 4 if only skipped commits are left or the
ends can't be told apart.

A search that is interrupted begins anew. One that goes on is your own git bisect, with
plimsoll bisect step for each commit:

  git bisect start BAD GOOD
  git bisect run plimsoll bisect step PROGRAM GOOD-FILE BAD-FILE FILE --build make`,
		Example: `  plimsoll bisect crun 1.8..HEAD --repo ~/src/crun --program crun --build './autogen.sh && ./configure && make'
  plimsoll bisect runc v1.1.0..main --first-parent --program runc --build 'make static'
  plimsoll bisect crun HEAD~20..HEAD client=steps --metric create --program crun --build make
  plimsoll bisect crun 1.8..HEAD --metric size --program crun --build 'make && strip crun'`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("expected a program and a range of commits: plimsoll bisect PROGRAM GOOD..BAD")
			}
			return nil
		},
		ValidArgsFunction: func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return buildable(w), cobra.ShellCompDirectiveNoFileComp
			}
			return completeBuildLevels(w, f.engine, args[0], typed)
		},
		RunE: func(c *cobra.Command, args []string) error { return f.bisect(w, args, c.Flags()) },
	}
	f.betweenFlags.add(c, w, "the command that builds, for the shell, in a work tree (required)")
	fl := c.Flags()
	fl.StringVar(&f.repo, "repo", ".", "the repository, or a directory in it")
	fl.StringVar(&f.made, "program", "", "the program that it makes, a path in the work tree (required)")
	fl.BoolVar(&f.firstParent, "first-parent", false, "follow only the first parent of merges")
	fl.StringVar(&f.keep, "keep", "", "directory of the records and of what builds printed (default plimsoll-bisect-TIME-PROGRAM)")
	completesFolders(c, "repo", "keep")
	completesPaths(c, nil, "program")
	c.AddCommand(bisectStepCommand(w))
	return c
}

// bisectSearch is a git bisect in clones, below a directory of the run's.
type bisectSearch struct {
	*commitRun
	repo      *revision.Repo
	good, bad string // hashes
	made      string
	keep      string
	below     string
}

// bisect searches, and prints what git found.
func (f *bisectFlags) bisect(w World, args []string, fl *pflag.FlagSet) error {
	w, finish, _, stop := w.interrupts()
	defer stop()
	b, err := f.begin(finish, w, args, fl)
	if err != nil {
		return err
	}
	state, id := b.set.state, record.NewRunID()
	if b.below, err = state.Claim(id, b.keep, b.set.user); err != nil {
		return fail(Failed, "%w", err)
	}
	err = b.search(finish, f.firstParent)
	if finish.Err() != nil {
		err = fail(Interrupted, "interrupted")
	}
	if rerr := state.Release(id); rerr != nil && err == nil {
		err = withHint(fail(Failed, "%w", rerr), "plimsoll clean removes it")
	}
	return err
}

// begin takes a search from the command line.
func (f *bisectFlags) begin(ctx context.Context, w World, args []string, fl *pflag.FlagSet) (*bisectSearch, error) {
	good, bad, ok := strings.Cut(args[1], "..")
	switch {
	case !ok || good == "" || strings.HasPrefix(bad, "."):
		return nil, fail(Usage, "%q is not a range: expected GOOD..BAD, such as v1.2..HEAD", args[1])
	case f.build == "" || f.made == "":
		return nil, withHint(fail(Usage, "--build and --program are needed: what builds a commit, and what that makes"), "such as --build make --program %s", args[0])
	case !filepath.IsLocal(f.made):
		return nil, fail(Usage, "--program %s is not a path in the work tree", f.made)
	case bad == "":
		bad = "HEAD"
	}
	if err := takesRecord(f.keep); err != nil {
		return nil, err
	}
	x, err := f.asked(w, args[0], args[2:], fl)
	if err != nil {
		return nil, err
	}
	b := &bisectSearch{commitRun: x, made: f.made, keep: f.keep}
	if b.repo, err = revision.Open(ctx, f.repo); err != nil {
		return nil, fail(Usage, "--repo %w", err)
	}
	if b.good, err = b.repo.Resolve(ctx, good); err != nil {
		return nil, fail(Usage, "%w", err)
	}
	if b.bad, err = b.repo.Resolve(ctx, bad); err != nil {
		return nil, fail(Usage, "%w", err)
	}
	if b.keep == "" {
		b.keep = fmt.Sprintf("plimsoll-bisect-%s-%s", time.Now().Format("20060102-150405"), args[0])
	}
	if b.keep, err = filepath.Abs(b.keep); err != nil {
		return nil, fail(Failed, "finding %s: %w", f.keep, err)
	}
	return b, nil
}

// search lets git ask about commits until it has found one.
func (b *bisectSearch) search(ctx context.Context, firstParent bool) error {
	git, err := b.repo.Bisect(ctx, b.below, b.good, b.bad, firstParent)
	if err != nil {
		return fail(Usage, "%w", err)
	}
	d, err := safepath.Make(b.keep, 0o755, callerOf(b.world))
	if err != nil {
		return fail(Failed, "making the directory of the search: %w", err)
	}
	d.Close()
	if err := b.both(ctx); err != nil {
		return err
	}
	for {
		hash, err := git.Next(ctx)
		if err != nil {
			return fail(Failed, "%w", err)
		}
		if hash == "" {
			break
		}
		fmt.Fprintln(b.world.Stderr, git.Said)
		answer, err := b.commit(ctx, hash)
		if err != nil {
			return err
		}
		if err := git.Answer(ctx, hash, answer); err != nil {
			return fail(Failed, "%w", err)
		}
	}
	fmt.Fprintf(b.world.Stderr, "The records are in %s.\n", shortPath(b.keep))
	fmt.Fprintln(b.world.Stdout, git.Said)
	if !git.Found {
		return quiet(GateOpen)
	}
	return nil
}

// both builds the ends, and sees whether the bad one is worse before a commit between
// them is built.
func (b *bisectSearch) both(ctx context.Context) error {
	for _, end := range []struct{ level, hash string }{{goodLevel, b.good}, {badLevel, b.bad}} {
		_, path, err := b.compile(ctx, end.hash)
		if err == nil {
			var made record.Build
			made, err = b.bind(ctx, build.Asked{Program: b.program, Level: end.level, Path: path, Where: "commit " + revision.Short(end.hash)})
			b.ends = append(b.ends, made)
		}
		if err != nil {
			return withHint(fail(Failed, "the %s end, %s: %w", end.level, revision.Short(end.hash), err), "both ends have to build and to run: mend --build, or give another range")
		}
	}
	good, bad := b.ends[0], b.ends[1]
	if good.SHA256 == bad.SHA256 {
		return fail(GateOpen, "both ends give the very same program: there is nothing to find")
	}
	bad.Level = candidateLevel
	b.dir = filepath.Join(b.keep, "ends")
	fmt.Fprintf(b.world.Stderr, "the bad end, %s, between both ends:\n", revision.Short(b.bad))
	v, err := b.judged(bad)
	if err == nil && v != bisection.AsBad {
		err = fail(GateOpen, "the bad end is not told from the good one: nothing can be decided")
	}
	return err
}

// commit builds a commit and judges it.
func (b *bisectSearch) commit(ctx context.Context, hash string) (revision.Answer, error) {
	tree, path, err := b.compile(ctx, hash)
	var v bisection.Verdict
	if failed, ok := errors.AsType[*revision.BuildError](err); ok {
		v = b.skip(failed)
	} else if err != nil {
		return "", fail(Failed, "%w", err)
	} else {
		b.dir = filepath.Join(b.keep, revision.Short(hash))
		if v, err = b.candidate(ctx, build.Asked{Path: path, Where: "commit " + revision.Short(hash)}); err != nil {
			return "", err
		}
	}
	if err := tree.Remove(); err != nil {
		return "", fail(Failed, "%w", err)
	}
	switch v {
	case bisection.AsGood:
		return revision.Good, nil
	case bisection.AsBad:
		return revision.Bad, nil
	}
	return revision.Skip, nil
}

// compile builds a commit in a work tree of its own.
func (b *bisectSearch) compile(ctx context.Context, hash string) (tree *revision.Tree, path string, err error) {
	fmt.Fprintf(b.world.Stderr, "building %s\n", revision.Short(hash))
	if tree, err = b.repo.Tree(ctx, b.below, hash); err != nil {
		return nil, "", err
	}
	log := filepath.Join(b.keep, "build-"+revision.Short(hash)+".log")
	var failed error
	err = writeBy(callerOf(b.world), log, func(out io.Writer) error {
		path, failed = tree.Build(ctx, b.build, b.made, out, b.buildLimit)
		return nil
	})
	if e, ok := errors.AsType[*revision.BuildError](failed); ok {
		failed = &revision.BuildError{Err: fmt.Errorf("%w; what it printed is in %s", e.Err, shortPath(log))}
	}
	return tree, path, errors.Join(failed, err)
}
