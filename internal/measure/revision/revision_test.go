package revision

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
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

// TestBisect: git walks the history in a clone, with or without side branches.
func TestBisect(t *testing.T) {
	r, dir := repository(t)
	before := state(t, dir)
	rev := func(name string) string {
		hash, err := r.Resolve(t.Context(), name)
		require.NoError(t, err)
		return hash
	}
	good, bad, side := rev("v1"), rev("main"), rev("side")
	for _, c := range []struct {
		name        string
		firstParent bool
		judge       func(hash string) Answer
		found       bool
		want        string
	}{
		{"a commit of a side branch", false, func(h string) Answer {
			if h == side || h == rev("main~1") {
				return Bad
			}
			return Good
		}, true, side + " is the first bad commit"},
		{"its merge", true, func(h string) Answer {
			if h == side {
				t.Error("a side branch is asked about")
			}
			if h == rev("main~1") {
				return Bad
			}
			return Good
		}, true, rev("main~1") + " is the first bad commit"},
		{"none that can be judged", false, func(string) Answer { return Skip }, false, "There are only 'skip'ped commits left to test."},
	} {
		b, err := r.Bisect(t.Context(), t.TempDir(), good, bad, c.firstParent)
		require.NoError(t, err)
		for range 5 {
			hash, err := b.Next(t.Context())
			require.NoError(t, err)
			if hash == "" {
				break
			}
			require.NoError(t, b.Answer(t.Context(), hash, c.judge(hash)))
		}
		if b.Found != c.found || !strings.Contains(b.Said, c.want) {
			t.Errorf("%s: %v %q", c.name, b.Found, b.Said)
		}
	}
	for _, ends := range [][2]string{{good, good}, {bad, good}} {
		if b, err := r.Bisect(t.Context(), t.TempDir(), ends[0], ends[1], false); err == nil || !strings.HasPrefix(err.Error(), "git bisect: ") {
			t.Errorf("%v: %v %v", ends, b, err)
		}
	}
	for _, name := range []string{"nope", "--all", "v1:one"} {
		if _, err := r.Resolve(t.Context(), name); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Open(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("%v", err)
	}
	if after := state(t, dir); after != before {
		t.Errorf("the repository was\n%s\nand is\n%s", before, after)
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
		path, err := tree.Build(t.Context(), "cat one two three > made && git describe --tags > version && chmod +x made", "made", io.Discard, time.Minute)
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
		_, err := tree.Build(t.Context(), line, "made", io.Discard, time.Second)
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
	tree := &Tree{Dir: t.TempDir()}
	if _, err := tree.Build(t.Context(), "touch made", "made", io.Discard, time.Minute); err != nil {
		t.Error(err)
	}
	var failed *BuildError
	if _, err := tree.Build(t.Context(), "exit 3", "made", io.Discard, time.Minute); !errors.As(err, &failed) {
		t.Errorf("a build that fails: %v", err)
	}
}
