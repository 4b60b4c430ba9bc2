package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// TestActionPair carries out the step of the action that builds base and head, as a
// runner does, in a repository of two commits: a program in the place of plimsoll
// shows what it is called with, and ends as a gate that fails.
func TestActionPair(t *testing.T) {
	for _, name := range []string{"git", "bash"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s here: %v", name, err)
		}
	}
	var a action
	strict(t, "../../ci/github/action.yml", &a)
	inputs := map[string]string{}
	for name, in := range a.Inputs {
		inputs[name] = *in.Default
	}
	maps.Copy(inputs, map[string]string{"build": "cp source made", "program": "runc", "made": "made", "levels": "client=steps network=none", "blocks": "7", "sudo": "false"})
	dir := t.TempDir()
	shell(t, dir, `mkdir repo bin; cd repo; git init -q -b main .
git config user.name Someone; git config user.email someone@example.org
echo base > source; git add .; git commit -qm base; git update-ref refs/remotes/origin/main HEAD
git checkout -q -b change; echo head > source; git commit -qam head; echo more >> source; git commit -qam more
cat > ../bin/plimsoll <<'END'
#!/bin/sh
echo "$*" >> "$CALLS"
[ "$2" = runc ] || { echo told; exit 0; }
cat "$3" "$4" >> "$CALLS"
mkdir -p plimsoll-results/record
exit 3
END
chmod +x ../bin/plimsoll`)
	env := []string{"PATH=" + filepath.Join(dir, "bin") + ":" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "CALLS=" + filepath.Join(dir, "calls"),
		"GITHUB_ACTIONS=true", "GITHUB_BASE_REF=main", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}
	here, err := filepath.Abs("../../ci/github")
	require.NoError(t, err)
	env = append(env, "GITHUB_ACTION_PATH="+here)
	line := ""
	for _, s := range a.Runs.Steps {
		if s.ID != "pair" {
			continue
		}
		line = s.Run
		for name, value := range s.Env {
			env = append(env, name+"="+regexp.MustCompile(`\$\{\{ inputs\.([\w-]+) \}\}`).ReplaceAllStringFunc(value, func(m string) string {
				return inputs[strings.TrimSuffix(strings.TrimPrefix(m, "${{ inputs."), " }}")]
			}))
		}
	}
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = filepath.Join(dir, "repo"), env
	said, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("%v: %s", err, said)
	}
	calls := string(read(t, filepath.Join(dir, "calls")))
	for _, want := range []string{"/base/made ./made client=steps network=none --blocks 7 --fail-above 5% --allow-failures 5% --strict --record plimsoll-results/record", "\nbase\nhead\nmore\n",
		"ab plimsoll-results/record --format junit -o plimsoll-results/junit.xml", "ab plimsoll-results/record --format github"} {
		if !strings.Contains(calls, want) {
			t.Errorf("no %q in\n%s", want, calls)
		}
	}
	if out := string(read(t, filepath.Join(dir, "output"))); !strings.Contains(out, "verdict=failed") {
		t.Error(out)
	}
	if out := string(read(t, filepath.Join(dir, "summary"))); !strings.Contains(out, "Plimsoll: failed") || !strings.Contains(out, "told") {
		t.Error(out)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "tmp.*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// shell carries out a script that prepares a test.
func shell(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.Command("bash", "-euc", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
