package revision

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

// repository is one with a merge, a tag and a hook that would be seen.
func repository(t *testing.T) (*Repo, string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git on this machine: ", err)
	}
	dir := filepath.Join(t.TempDir(), "repo")
	require.NoError(t, os.Mkdir(dir, 0o755))
	script := `
git init -q -b main .
git config user.name Someone; git config user.email someone@example.org
commit() { echo "$1" > "$1"; git add .; git commit -qm "$1"; }
commit one; git tag v1; commit two
git checkout -q -b side v1; commit three
git checkout -q main; git merge -q --no-ff -m four side; commit five
mkdir -p .git/hooks ../templates/hooks
printf '#!/bin/sh\ntouch "` + dir + `/hooked"\n' > .git/hooks/post-checkout; chmod +x .git/hooks/post-checkout
cp .git/hooks/post-checkout ../templates/hooks
echo changed > one`
	cmd := exec.Command("sh", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r, err := Open(t.Context(), dir)
	require.NoError(t, err)
	return r, dir
}

// state is all that git knows of the user's own: it must stay as it is.
func state(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command("sh", "-c", "git status --porcelain; git for-each-ref; git worktree list; cat .git/HEAD; ls -A . .git; find .git -type f | sort | xargs sha1sum")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestBetween: the commits of a range come in order, with or without side branches.
func TestBetween(t *testing.T) {
	r, _ := repository(t)
	good, err := r.Resolve(t.Context(), "v1")
	require.NoError(t, err)
	bad, err := r.Resolve(t.Context(), "main")
	require.NoError(t, err)
	subjects := func(list []Commit) (out []string) {
		for _, c := range list {
			out = append(out, c.Subject)
		}
		return out
	}
	all, err := r.Between(t.Context(), good, bad, false)
	if err != nil || len(all) != 4 || all[3].Hash != bad || all[2].Subject != "four" || len(all[2].Parents) != 2 || all[0].At.IsZero() || all[0].Author != "Someone" {
		t.Fatalf("%v %+v", err, all)
	}
	first, err := r.Between(t.Context(), good, bad, true)
	if err != nil || !reflect.DeepEqual(subjects(first), []string{"two", "four", "five"}) {
		t.Errorf("%v %v", err, subjects(first))
	}
	stat, err := r.Stat(t.Context(), all[2].Hash)
	if err != nil || !strings.Contains(stat, "three | 1 +") || strings.Contains(stat, "two |") {
		t.Errorf("%v %q", err, stat)
	}
	for _, c := range []struct{ good, bad, base, want string }{
		{good, good, "", "the same commit"},
		{bad, good, "", "the other way round"},
		{all[0].Hash, all[1].Hash, good, ""}, // of two branches
		{good, bad, good, ""},
	} {
		base, err := r.Base(t.Context(), c.good, c.bad)
		if base != c.base || (err != nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v, not %q", base, err, c.want)
		}
	}
	for _, rev := range []string{"nope", "--all", "v1:one"} {
		if _, err := r.Resolve(t.Context(), rev); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", rev, err)
		}
	}
	if _, err := Open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("%v", err)
	}
}

// TestTree: a commit is built in a tree of ours, and the user's repository stays as it
// was to the last byte.
func TestTree(t *testing.T) {
	r, dir := repository(t)
	before := state(t, dir)
	hash, err := r.Resolve(t.Context(), "main~1")
	require.NoError(t, err)
	below := t.TempDir()
	t.Setenv("GIT_DIR", "/nowhere")                                  // as under a hook
	t.Setenv("GIT_TEMPLATE_DIR", filepath.Join(dir, "../templates")) // with hooks of the user's
	for range 2 {                                                    // the second time one is there
		tree, err := r.Tree(t.Context(), below, hash)
		require.NoError(t, err)
		path, err := tree.Build(t.Context(), "cat one two three > made && git describe --tags > version && chmod +x made", "made", filepath.Join(below, "log"), time.Minute)
		require.NoError(t, err)
		if data, err := os.ReadFile(path); err != nil || string(data) != "one\ntwo\nthree\n" {
			t.Errorf("%q %v", data, err)
		}
		if data, err := os.ReadFile(filepath.Join(tree.Dir, "version")); err != nil || !strings.HasPrefix(string(data), "v1-") {
			t.Errorf("%q %v", data, err)
		}
	}
	tree, err := r.Tree(t.Context(), below, hash)
	require.NoError(t, err)
	for line, want := range map[string]string{"echo no; exit 3": "exit status 3", "true": "it made no file made", "sleep 60 & wait": "had not ended after"} {
		_, err := tree.Build(t.Context(), line, "made", filepath.Join(below, "log"), time.Second)
		var failed *BuildError
		if !errors.As(err, &failed) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
	if err := tree.Remove(); err != nil {
		t.Error(err)
	}
	t.Setenv("GIT_DIR", filepath.Join(dir, ".git"))
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
	}
}

// Root in a container has not what a process namespace needs: it builds all the same,
// and what fails is still told as the build's failure.
func TestBuildInContainer(t *testing.T) {
	const inside = "PLIMSOLL_TEST_IN_CONTAINER"
	if os.Getenv(inside) == "" {
		if os.Geteuid() != 0 {
			t.Skip("needs root, to have its rights taken away")
		}
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			t.Skip("no setpriv on this machine: ", err)
		}
		cmd := exec.Command(setpriv, "--bounding-set", "-sys_admin", "--inh-caps", "-sys_admin", "--", os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	if err := exec.Command("unshare", "--pid", "true").Run(); err == nil {
		t.Fatal("the test's root may make process namespaces")
	}
	tree := &Tree{Dir: t.TempDir(), env: os.Environ()}
	if _, err := tree.Build(t.Context(), "touch made", "made", filepath.Join(t.TempDir(), "log"), time.Minute); err != nil {
		t.Error(err)
	}
	var failed *BuildError
	if _, err := tree.Build(t.Context(), "exit 3", "made", filepath.Join(t.TempDir(), "log"), time.Minute); !errors.As(err, &failed) {
		t.Errorf("a build that fails: %v", err)
	}
}
