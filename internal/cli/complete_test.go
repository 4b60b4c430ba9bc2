//go:build linux

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record/recordtest"
)

// free are the flags of words that nobody but the user knows, each with what that is.
var free = map[string]string{
	"account": "of a cluster", "agent": "an address", "agent-job": "a job", "allow-failures": "a share", "build": "a binding, or a command",
	"delta": "a share", "error": "a share", "fail-above": "a share", "from": "a version", "image-archive": "a binding", "image-on": "a binding",
	"listen": "an address", "mirror": "an address", "name": "a name", "partition": "of a cluster",
	"program": "a binding", "run-id": "an id", "slurm-option": "of a cluster", "threshold": "a share",
	"time-limit": "a time", "weight": "a number",
}

// What can be known of the values of a flag, a shell completes; and so it does the
// arguments of every command that has some.
func TestEverythingIsCompleted(t *testing.T) {
	known := map[string]bool{}
	flags, arguments := 0, 0
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if name := sub.Name(); name != "help" && name != "completion" && !sub.Hidden {
				walk(sub)
			}
		}
		if what := strings.TrimPrefix(c.Use, c.Name()); strings.ContainsAny(what, "AEIOU") {
			if arguments++; c.ValidArgsFunction == nil && c.Name() != "import" { // whose files have no one ending
				t.Errorf("%s completes no argument", c.CommandPath())
			}
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			switch f.Value.Type() {
			case "bool", "int", "uint64", "float64", "duration", "intSlice":
				return
			}
			flags++
			_, completed := c.GetFlagCompletionFunc(f.Name)
			_, file := f.Annotations[cobra.BashCompFilenameExt]
			_, folder := f.Annotations[cobra.BashCompSubdirsInDir]
			switch {
			case completed || file || folder:
			case free[f.Name] != "":
				known[f.Name] = true
			default:
				t.Errorf("%s --%s is not completed: expected its values, files or folders, or why not", c.CommandPath(), f.Name)
			}
		})
	}
	walk(tree())
	for name := range free {
		if !known[name] {
			t.Errorf("no flag --%s is left to the user", name)
		}
	}
	if flags < 80 || arguments < 20 {
		t.Errorf("only %d flags and %d commands with arguments were seen", flags, arguments)
	}
}

// completed are the words that a shell offers, without what they are.
func completed(t *testing.T, args ...string) []string {
	t.Helper()
	status, out, errs := drive(append([]string{"__complete"}, args...)...)
	if status != 0 {
		t.Fatalf("%v: status %d: %s", args, status, errs)
	}
	var names []string
	for line := range strings.Lines(out) {
		if name, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); name != "" && !strings.HasPrefix(name, ":") {
			names = append(names, name)
		}
	}
	return names
}

// Of a number or a time a shell offers no file.
func TestNumbersAreNoFiles(t *testing.T) {
	for _, args := range [][]string{{"run", "quick", "--blocks", ""}, {"run", "quick", "--lost-after", ""}, {"explain", "docker", "--at-once", ""}, {"compare", "--quantile", ""}, {"run", "quick", "--seed", ""}} {
		if _, out, _ := drive(append([]string{"__complete"}, args...)...); out != ":4\n" {
			t.Errorf("%v: %q", args, out)
		}
	}
}

// What is completed is what there is: of the run, of the study, of the engine.
func TestCompletedWords(t *testing.T) {
	run := recordtest.Suite().Write(t)
	folder := t.TempDir()
	require.NoError(t, os.Symlink(run, filepath.Join(folder, "one")))
	for _, c := range []struct {
		args []string
		want []string
		not  string
	}{
		{[]string{"explain", ""}, []string{"docker", "oci"}, "fake"},
		{[]string{"run", "quick", "--limit-cpus", ""}, []string{"none"}, "docker"},
		{[]string{"explain", "docker", ""}, []string{"network=", "runtime="}, "docker"},
		{[]string{"explain", "docker", "network="}, []string{"network=none", "network=host"}, "network="},
		{[]string{"ablate", "docker", ""}, []string{"network=", "density"}, "docker"},
		{[]string{"ablate", "docker", "--mechanism", ""}, []string{"all", "additions", "seccomp"}, ""},
		{[]string{"ablate", "docker", "--mechanism", "seccomp,"}, []string{"seccomp,network"}, "seccomp,seccomp"},
		{[]string{"ablate", "docker", "sysbench-cpu", "--metric", ""}, []string{"events", "startup"}, ""},
		{[]string{"workloads", "sockperf", "--set", ""}, []string{"protocol=udp", "test=throughput"}, "protocol"},
		{[]string{"workloads", "sockperf", "--set", "seconds=1,"}, []string{"seconds=1,protocol=udp"}, ""},
		{[]string{"ab", ""}, []string{"runc", "dockerd"}, "docker"},
		{[]string{"ab", "crun", "a", "b", "client="}, []string{"client=steps"}, ""},
		{[]string{"ab", "runc", "--engine", "docker", "a", "b", "network="}, []string{"network=none"}, ""},
		{[]string{"run", "baresi2024", "--part", ""}, []string{"why-seccomp", "lifecycle"}, ""},
		{[]string{"run", "baresi2024", "--part", "why-seccomp,"}, []string{"why-seccomp,lifecycle"}, "why-seccomp,why-seccomp"},
		{[]string{"plan", "baresi2024", "--claim", ""}, []string{"6a"}, "baresi2024/6a"},
		{[]string{"run", "baresi2024", "--claim", ""}, []string{"9d"}, "1"}, // which is about features
		{[]string{"run", "quick", "--engine", "docker,"}, []string{"docker,podman"}, "docker,docker"},
		{[]string{"run", "quick", "--gate-env", ""}, []string{"native"}, ""},
		{[]string{"report", run, "--over", ""}, []string{"any"}, ""},
		{[]string{"report", folder, "--engine", ""}, []string{"docker"}, ""},
		{[]string{"compare", run, "--env", ""}, []string{"native"}, ""},
		{[]string{"compare", run, "--filter", ""}, []string{"metric=", "environment="}, ""},
		{[]string{"compare", run, "--filter", "metric="}, []string{"metric=startup"}, "startup"},
		{[]string{"compare", run, "--filter", "metric=startup,"}, []string{"metric=startup,whole"}, "metric=startup,startup"},
		{[]string{"compare", run, "--row", "engine,"}, []string{"engine,metric"}, "engine,engine"},
		{[]string{"advise", run, "--require", ""}, []string{"rootless"}, ""},
		{[]string{"workloads", "hello", "--try", "docker,"}, []string{"docker,podman"}, "docker,docker"},
		{[]string{"agent", "--source", ""}, []string{"nfs-client"}, ""},
		{[]string{"image", "build", ""}, []string{"busybox"}, ""},
	} {
		got := completed(t, c.args...)
		for _, w := range c.want {
			if !slices.Contains(got, w) {
				t.Errorf("%v completes %q, without %s", c.args, got, w)
			}
		}
		if c.not != "" && slices.Contains(got, c.not) {
			t.Errorf("%v completes %s as well: %q", c.args, c.not, got)
		}
	}
}

// The exit statuses are told in the same words wherever they are.
func TestStatusesAreTold(t *testing.T) {
	for _, path := range []string{"../../README.md", "../../docs/index.md"} {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		if !strings.Contains(string(data), statusText) {
			t.Errorf("%s does not say: %s", path, statusText)
		}
	}
	_, out, _ := drive("--help")
	if !strings.Contains(strings.Join(strings.Fields(out), " "), statusText) {
		t.Errorf("plimsoll --help does not say: %s", statusText)
	}
}
