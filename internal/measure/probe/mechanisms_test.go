package probe

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// mechanisms are those that the probe's source lists.
func mechanisms(t *testing.T) (names []string) {
	t.Helper()
	source, err := os.ReadFile("src/mechanism.c")
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`\{\.name = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		names = append(names, m[1])
	}
	return names
}

// machineState is what the mechanisms could leave behind: other tests mount and make
// links at the same time, but not over /proc, and not by these names.
func machineState(t *testing.T) string {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	require.NoError(t, err)
	links, err := os.ReadFile("/proc/net/dev")
	require.NoError(t, err)
	names := regexp.MustCompile(`(?m)^ *(plm[012]):`).FindAllString(string(links), -1)
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/plimsoll-mechanism-*")
	more, _ := filepath.Glob("/sys/fs/cgroup/plimsoll-mechanism-*")
	over := regexp.MustCompile(`(?m)^\S+ /proc(/\S*)? .*$`).FindAllString(string(mounts), -1)
	return strings.Join(slices.Concat(names, groups, more, over), "\n")
}

func TestMechanisms(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("most namespaces, mounts and control groups are root's")
	}
	names := mechanisms(t)
	if len(names) < 20 {
		t.Fatalf("only %d mechanisms: %v", len(names), names)
	}
	before := machineState(t)
	for _, how := range names {
		for _, threads := range []string{"1", "3"} {
			started := forks(t)
			got := bench(t, "mechanisms --how "+how+" --rest 1 --repetitions 4 --threads "+threads)
			n := got["threads"]
			if got["count"] != 4*n || got["make_ns"] <= 0 || got["end_ns"] <= 0 {
				t.Errorf("%s: %v", how, got)
			}
			// A round takes as long as its longest, and half of all are as long as the median.
			if half := 4 * n / 2 * (got["make_ns"] + got["end_ns"]) / 2; got["ns"]*n < half {
				t.Errorf("%s: all of %v took less than half of it: %v", how, half, got)
			}
			// Each worker and, for each round and the first that does not count, a child.
			if made := forks(t) - started; made < n+5*n {
				t.Errorf("%s: %v processes were started", how, made)
			}
		}
	}
	if after := machineState(t); after != before {
		t.Errorf("left behind:\n%s\nbefore:\n%s", after, before)
	}
}

// A mechanism that the kernel refuses says which, and never a number.
func TestMechanismRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root's rights away")
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		t.Skip("setpriv (util-linux) takes the rights away, and is not here")
	}
	self, err := exec.LookPath(probePath(t))
	require.NoError(t, err)
	for _, how := range []string{"mount-namespace", "network-namespace", "veth", "overlay"} {
		cmd := exec.CommandContext(t.Context(), setpriv, "--bounding-set=-all", "--inh-caps=-all", self, "bench", "mechanisms", "--how", how, "--rest", "1", "--threads", "2")
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 71 || strings.Contains(string(out), "{") || !strings.Contains(string(out), "error 1") {
			t.Errorf("%s: %v: %s", how, err, out)
		}
	}
}
