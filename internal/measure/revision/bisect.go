package revision

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"plimsoll/internal/measure/child"
)

// Bisect is git bisect under way in a clone, in which no commit is checked
// out.
type Bisect struct {
	dir string
	env []string
	// Said is what git printed last: what is left to search, or what it has found.
	Said string
	// Found says that git has found the commit.
	Found bool
}

// Answer is a verdict on a commit for git bisect.
type Answer string

// The answers that git bisect takes.
const (
	Good Answer = "good"
	Bad  Answer = "bad"
	Skip Answer = "skip"
)

// Bisect begins a search below a directory of the run's. With firstParent it follows only
// the first parents of merges.
func (r *Repo) Bisect(ctx context.Context, below, good, bad string, firstParent bool) (*Bisect, error) {
	b := &Bisect{dir: filepath.Join(below, "history"), env: r.env}
	if err := r.clone(ctx, b.dir); err != nil {
		return nil, err
	}
	args := []string{"start", "--no-checkout"}
	if firstParent {
		args = append(args, "--first-parent")
	}
	return b, b.git(ctx, append(args, bad, good, "--")...)
}

// Next is the commit to judge; empty where the search is over.
func (b *Bisect) Next(ctx context.Context) (hash string, err error) {
	log, err := git(ctx, b.env, "-C", b.dir, "bisect", "log")
	if err != nil {
		return "", err
	}
	b.Found = strings.Contains(log, "\n# first bad commit: ")
	if b.Found || strings.Contains(log, "\n# only skipped commits left") {
		return "", nil
	}
	hash, err = git(ctx, b.env, "-C", b.dir, "rev-parse", "--verify", "BISECT_HEAD")
	return strings.TrimSpace(hash), err
}

// Answer tells git what the commit is.
func (b *Bisect) Answer(ctx context.Context, hash string, a Answer) error {
	return b.git(ctx, string(a), hash)
}

// onlySkipped is git bisect's status where only commits that were skipped are left.
const onlySkipped = 2

func (b *Bisect) git(ctx context.Context, args ...string) error {
	out, err := child.Run(ctx, child.Command{Argv: append([]string{"git", "--no-pager", "-C", b.dir, "-c", "core.hooksPath=/dev/null", "bisect"}, args...),
		Env: append(b.env, "LC_ALL=C"), Together: true, Limit: gitLimit})
	b.Said = strings.TrimSpace(string(out.Stdout))
	if ended, ok := errors.AsType[*exec.ExitError](err); ok && ended.ExitCode() != onlySkipped {
		return fmt.Errorf("git bisect: %s", b.Said)
	} else if !ok {
		return err
	}
	return nil
}
