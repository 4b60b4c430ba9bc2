//go:build linux

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/tune"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/report"
)

// waits is a library that lets a program wait at its start, by its name and a word of
// its command line, for some nanoseconds.
const waits = `#include <string.h>
#include <time.h>
__attribute__((constructor)) static void wait_at_start(int argc, char **argv) {
	const struct timespec t = {0, %dL};
	const char *name = strrchr(argv[0], '/');
	if (strcmp(name ? name + 1 : argv[0], "%s"))
		return;
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "%s")) {
			nanosleep(&t, 0);
			return;
		}
}
`

// expedited is the level of a machine on which no RCU grace period is waited for, where it
// can be set: a wait moves what follows to another place in such a period, and so comes out
// longer or shorter than it is.
func expedited(t *testing.T) []string {
	t.Helper()
	const state = "rcu-expedited"
	if _, err := (tune.Machine{}).Wanted(state); err != nil {
		t.Logf("the machine is as it is: %v", err)
		return nil
	}
	return []string{"tuned=" + state}
}

// pair reads what plimsoll ab has written as JSON.
func (p *subject) pair(file string) (pair report.Pair) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, file))
	require.NoError(p.t, err)
	require.NoError(p.t, json.Unmarshal(text, &pair))
	return pair
}

// TestDelays puts 5 % of a manager's start into one of two builds that are alike:
// both load a library that waits, one of them for no time. It is found, and not
// told for the other one. Where the scatter of the machine hides as much, that is said.
func TestDelays(t *testing.T) {
	if os.Getenv("PLIMSOLL_DELAYS") == "" {
		t.Skip("needs a quiet machine for eight minutes: make test-delays")
	}
	if os.Geteuid() != 0 {
		t.Skip("private daemons need root")
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler to put a delay into a build")
	}
	const shim = "containerd-shim-runc-v2"
	for _, c := range []struct {
		name, program    string
		delayed, at, via string // the program that waits, the word by which it starts a container, what it is loaded by
		levels           []string
	}{
		{"podman", "podman", "podman", "run", "podman", []string{"network=none"}},
		{"containerd", "containerd", shim, "start", "containerd", []string{"network=none"}},
		{"docker", "dockerd", shim, "start", "dockerd", []string{"network=none"}},
		{"cri", "containerd", shim, "start", "containerd", []string{"endpoint=containerd"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, program := range []string{c.via, c.delayed} {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed: the lab has it (lab/setup)", program)
				}
			}
			p := &subject{t: t, dir: t.TempDir()}
			levels := slices.Concat(c.levels, expedited(t))
			library := func(name string, wait time.Duration) string {
				source, path := filepath.Join(p.dir, name+".c"), filepath.Join(p.dir, name+".so")
				require.NoError(t, os.WriteFile(source, fmt.Appendf(nil, waits, wait.Nanoseconds(), c.delayed, c.at), 0o600))
				out, err := exec.Command("cc", "-shared", "-fPIC", "-o", path, source).CombinedOutput()
				require.NoError(t, err)
				if len(out) > 0 {
					t.Logf("%s", out)
				}
				return "LD_PRELOAD=" + path
			}
			ab := func(dir, next string, more ...string) {
				args := append([]string{"ab", c.program, library("none", 0), next, "--engine", c.name, "--progress", "none", "--wait", "--force",
					"-d", dir, "--format", "json", "-o", dir + ".json"}, append(more, levels...)...)
				p.measured(args...)
			}
			ab("pilot", library("alike", 0), "--blocks", "4")
			var starts []time.Duration
			for _, tr := range p.trialsOf("pilot") {
				starts = append(starts, time.Duration(tr.Events[record.First]-tr.Events[record.Request]))
			}
			slices.Sort(starts)
			wait := starts[len(starts)/2] / 20
			ab("pair", library("waits", wait), "--budget", "80s")

			pair := p.pair("pair.json")
			t.Logf("waits %v: %s", wait, pair.Verdict)
			switch {
			case pair.Outcome == compare.Worse:
			case pair.Outcome == compare.Unclear && (pair.Finds == nil || *pair.Finds > 0.05):
				t.Skipf("this machine scatters too much to show 5 %%: %s", pair.Verdict)
			default:
				t.Errorf("a wait of 5 %% is %s", pair.Outcome)
			}
		})
	}
}
