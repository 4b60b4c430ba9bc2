package probe

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// bench runs one of the probe's small benchmarks and gives its JSON object,
// flat: "write.per_second".
func bench(t *testing.T, args string) map[string]float64 {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), probePath(t), append([]string{"bench"}, strings.Fields(args)...)...).Output()
	if err != nil {
		t.Fatalf("bench %s: %v", args, err)
	}
	var object map[string]any
	if err := json.Unmarshal(out, &object); err != nil || bytes.Count(out, []byte("\n")) != 1 {
		t.Fatalf("bench %s: %v in %q", args, err, out)
	}
	if name, _, _ := strings.Cut(args, " "); object["name"] != name {
		t.Errorf("bench %s calls itself %v", args, object["name"])
	}
	flat := map[string]float64{}
	var walk func(prefix string, v map[string]any)
	walk = func(prefix string, v map[string]any) {
		for k, x := range v {
			switch x := x.(type) {
			case map[string]any:
				walk(prefix+k+".", x)
			case float64:
				flat[prefix+k] = x
			}
		}
	}
	walk("", object)
	for _, part := range []string{"", "write.", "read.", "delete."} {
		count, ok := flat[part+"count"]
		if rate := count * 1e9 / flat[part+"ns"]; ok && math.Abs(flat[part+"per_second"]/rate-1) > 1e-3 {
			t.Errorf("bench %s: %s%v operations in %v ns are %v a second, not %v", args, part, count, flat[part+"ns"], rate, flat[part+"per_second"])
		}
	}
	return flat
}

// forks is the number of processes and threads that this machine has started.
func forks(t *testing.T) float64 {
	t.Helper()
	b, err := os.ReadFile("/proc/stat")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(b), "\nprocesses ")
	n, err := strconv.ParseFloat(strings.Fields(rest)[0], 64)
	require.NoError(t, err)
	return n
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %d files (%v)", len(left), err)
	}
}

func TestBenchOfTheSystem(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args         string
		batch, count float64
		forks        float64 // at least
	}{
		{"create-files --count 250 --batch 100 --dir " + dir, 100, 250, 0},
		{"create-processes --count 250", 100, 250, 250},
		{"create-threads --count 250", 100, 250, 250},
		{"launch-programs --count 150", 100, 150, 150},
		{"allocate-memory --count 1500000", 1e6, 1500000, 0},
		{"allocate-memory --count 3000 --how map", 10000, 3000, 0},
	} {
		before := forks(t)
		got := bench(t, c.args)
		if got["count"] != c.count || got["batch"] != c.batch || got["batches"] != math.Ceil(c.count/c.batch) {
			t.Errorf("%s: %v", c.args, got)
		}
		if n := forks(t) - before; n < c.forks {
			t.Errorf("%s: the kernel has counted %v new processes and threads", c.args, n)
		}
		if mean, best := got["ns_each"], got["best_ns_each"]; best <= 0 || best > mean*1.001 || math.Abs(mean*got["count"]/got["ns"]-1) > 1e-3 {
			t.Errorf("%s: %v", c.args, got)
		}
		empty(t, dir)
	}
	if testing.Short() {
		return // not for a second of a processor
	}
	if got := bench(t, "create-processes --seconds 1"); got["ns"] < 0.9e9 || got["count"] != got["batches"]*100 {
		t.Errorf("for a second: %v", got)
	}
}

func TestBenchOfMemory(t *testing.T) {
	together := "stream --bytes 1000008 --threads 3 --repetitions 300"
	if testing.Short() {
		together = "stream --bytes 1000008 --threads 3 --repetitions 30"
	}
	for _, args := range []string{"stream --bytes 1000008 --repetitions 4", together, "stream --bytes 8 --repetitions 2"} {
		got := bench(t, args)
		for _, kernel := range []string{"copy", "scale", "add", "triad"} {
			best, middle, worst := got[kernel+".best_bytes_per_second"], got[kernel+".median_bytes_per_second"], got[kernel+".worst_bytes_per_second"]
			if worst <= 0 || middle < worst || best < middle {
				t.Errorf("%s: %s: %v", args, kernel, got)
			}
		}
	}
	// The kernel's own count: one fault for each small page.
	got := bench(t, "page-faults --pages small --bytes 4194304 --repetitions 4")
	if n := got["faults"]; n < 4096 || n > 4096+64 || got["ns_per_fault"] <= 0 {
		t.Errorf("4 times 1024 pages: %v", got)
	}
	if got := bench(t, "tlb --count 10000 --repetitions 1"); got["ns.16"] <= 0 || got["ns.65536"] <= 0 || got["accesses"] != 10000 {
		t.Errorf("%v", got)
	}
}

func TestBenchOfFiles(t *testing.T) {
	dir := t.TempDir()
	for _, sync := range []string{"", " --sync"} {
		got := bench(t, "small-files --count 20 --bytes 5000 --dir "+dir+sync)
		if got["write.count"] != 20 || got["read.count"] != 20 || got["delete.count"] != 20 || got["bytes"] != 5000 {
			t.Errorf("%v", got)
		}
		empty(t, dir)
	}
	got := bench(t, "threaded-io --threads 3 --bytes 1048576 --block 65536 --dir "+dir)
	for _, phase := range []string{"write", "read"} {
		want := 3 * 1048576 * 1e9 / got[phase+".ns"]
		if math.Abs(got[phase+".bytes_per_second"]/want-1) > 1e-3 {
			t.Errorf("%s: %v", phase, got)
		}
	}
	empty(t, dir)
}

// TestBenchFails loudly, and with nothing on standard output.
func TestBenchFails(t *testing.T) {
	path := probePath(t)
	for _, c := range []struct {
		args   string
		status int
		says   string
	}{
		{"", 64, "usage"},
		{"nothing-like-it", 64, "usage"},
		{"stream --bytes", 64, "argument"},
		{"stream --bytes x", 64, "number"},
		{"stream --bytes 0", 64, "number"},
		{"stream --threads 257", 64, "256"},
		{"stream --bytes 70368744177663", 71, "stream: taking memory: error 12"},
		{"stream --repetitions 1", 71, "stream"},
		{"create-files --dir /nowhere/at/all", 71, "create-files: creating a file: error 2"},
		{"small-files --dir /nowhere", 71, "small-files: creating a file: error 2"},
		{"threaded-io --dir /proc", 71, "threaded-io: opening a file: error 2"},
		{"threaded-io --bytes 5 --block 4", 71, "multiple"},
		{"page-faults --pages large", 71, "--pages"},
		{"allocate-memory --how not", 71, "--how"},
		{"mechanisms --how not", 71, "--how"},
		{"mechanisms --threads 65", 71, "64"},
	} {
		cmd := exec.CommandContext(t.Context(), path, append([]string{"bench"}, strings.Fields(c.args)...)...)
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if ee := (*exec.ExitError)(nil); !errors.As(err, &ee) || ee.ExitCode() != c.status || stdout.Len() > 0 || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("bench %s: %v, %q, want status %d and %q", c.args, err, stderr.String(), c.status, c.says)
		}
	}
}
