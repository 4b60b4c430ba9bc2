// Package revision lets git search the history of a repository, and builds what its
// commits hold in work trees of our own.
//
// It is opinionated: the repository is only read. A work tree is a clone that shares
// the repository's objects, below a directory of ours: no branch, no index and no list
// of work trees of the user's is touched, and taking the directory away takes all of it
// away. No hook of the user's is run.
//
// Why it is so: docs/decisions/builds.md.
package revision

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
)

// Repo is a repository of the user's.
type Repo struct {
	// Dir is its own directory: .git, or that of a bare one.
	Dir string
	env []string
}

// gitLimit is how long git may take to read; a clone of many files takes longest.
const gitLimit = 5 * time.Minute

// Open finds the repository that a directory belongs to.
func Open(ctx context.Context, dir string) (*Repo, error) {
	if st, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not there", dir)
	} else if err != nil {
		return nil, err
	} else if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a directory", dir)
	}
	r := &Repo{Dir: dir, env: environment(os.Environ())}
	out, err := r.git(ctx, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	r.Dir = strings.TrimSpace(out)
	return r, nil
}

// local are the variables by which whoever calls us says which repository, index and
// settings git uses: in a hook, or under git bisect run, they are another one's.
var local = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INDEX_VERSION", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES",
	"GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_GRAFT_FILE", "GIT_SHALLOW_FILE", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_EXTERNAL_DIFF", "GIT_TRACE", "GIT_TEMPLATE_DIR"}

// environment is that of git and of builds.
func environment(ours []string) []string {
	var out []string
next:
	for _, e := range ours {
		for _, l := range local {
			if strings.HasPrefix(e, l+"=") {
				continue next
			}
		}
		out = append(out, e)
	}
	return append(out, "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
}

// git runs git on the repository.
func (r *Repo) git(ctx context.Context, args ...string) (string, error) {
	return git(ctx, r.env, append([]string{"-C", r.Dir}, args...)...)
}

func git(ctx context.Context, env []string, args ...string) (string, error) {
	argv := append([]string{"git", "--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "advice.detachedHead=false"}, args...)
	out, err := child.Run(ctx, child.Command{Argv: argv, Env: append(env, "LC_ALL=C"), Limit: gitLimit})
	if err != nil {
		said := strings.TrimPrefix(strings.TrimSpace(string(out.Stderr)), "fatal: ")
		if said == "" {
			return "", fmt.Errorf("git %s: %w", args[min(2, len(args)-1)], err)
		}
		return "", fmt.Errorf("git: %s", said)
	}
	return string(out.Stdout), nil
}

// Resolve finds the commit that a revision names, as git writes them.
func (r *Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if strings.HasPrefix(rev, "-") {
		return "", fmt.Errorf("%q is not a revision", rev)
	}
	out, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("%s has no commit %q: expected a revision as git writes them, such as v1.2, main~20 or a hash", r.Dir, rev)
	}
	return strings.TrimSpace(out), nil
}

// Short is the beginning of a hash.
func Short(hash string) string { return hash[:min(12, len(hash))] }

// Tree is a work tree of ours at a commit.
type Tree struct {
	Dir string
	env []string
}

// Tree makes a work tree of a commit below a directory of ours: one that was there is
// made anew.
func (r *Repo) Tree(ctx context.Context, below, hash string) (*Tree, error) {
	t := &Tree{Dir: filepath.Join(below, Short(hash)), env: r.env}
	if err := r.clone(ctx, t.Dir); err != nil {
		return nil, err
	}
	// A build that asks for what lies beside the repository finds it where the user does.
	if url, err := r.git(ctx, "config", "--get", "remote.origin.url"); err == nil {
		if _, err := git(ctx, r.env, "-C", t.Dir, "remote", "set-url", "origin", strings.TrimSpace(url)); err != nil {
			return nil, err
		}
	}
	_, err := git(ctx, r.env, "-C", t.Dir, "checkout", "--quiet", "--detach", hash)
	return t, err
}

// clone makes a clone without files in it.
func (r *Repo) clone(ctx context.Context, dir string) error {
	if err := safepath.RemoveAll(dir); err != nil {
		return err
	}
	_, err := git(ctx, r.env, "clone", "--quiet", "--shared", "--no-checkout", "--template=", r.Dir, dir)
	return err
}

// Build is Build in the work tree.
func (t *Tree) Build(ctx context.Context, line, program string, out io.Writer, limit time.Duration) (path string, err error) {
	path = filepath.Join(t.Dir, program)
	return path, Build(ctx, t.Dir, line, path, out, limit)
}

// Remove takes the work tree away.
func (t *Tree) Remove() error { return safepath.RemoveAll(t.Dir) }
