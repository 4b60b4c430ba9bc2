package trace

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine/containerd/ctrtest"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/timeline"
)

// blind is a start into which some work was put that is to be found.
type blind struct {
	starts int
	argv   []string
	log    string // where the work says how long it took, a line for each start
	// step is a program's name and cause a part of that of the work: below the step is as
	// much time of the cause as the work took, and nowhere else, but where the engine does
	// the like by itself.
	step, cause string
	too         bool
}

// found follows starts, and compares what is found with the work's own stopwatch in the
// same starts, by the median of the differences, or together. Where others keep the
// processors or the disk busy, what they take is a part of the way itself: once in six
// times it has to be found.
func (b blind) found(t *testing.T, r *Recorder) {
	t.Helper()
	var wrong string
	for range 6 {
		if wrong = b.missed(t, r); wrong == "" {
			return
		}
	}
	t.Error(wrong)
}

func (b blind) missed(t *testing.T, r *Recorder) string {
	t.Helper()
	all := b.follow(t, r)
	took := stopwatch(t, b.log, len(all))
	var off, truth []float64
	var elsewhere float64
	for i, tr := range all {
		tree := timeline.Read(tr).Tree()
		here := caused(tree, b.step, b.cause, false)
		elsewhere += caused(tree, "", b.cause, true) - here
		off, truth = append(off, here-took[i]), append(truth, took[i])
	}
	whole, err := timeline.Explain(all, nil)
	require.NoError(t, err)
	slices.Sort(off)
	slices.Sort(truth)
	d, size := stats.Median(off), stats.Median(truth)
	found := fmt.Sprintf("%s: %q took %.2f ms, and %+.2f ms are found more (%.2f to %.2f)", b.step, b.cause, size/1e6, d/1e6, off[0]/1e6, off[len(off)-1]/1e6)
	if elsewhere /= float64(len(all)); math.Abs(d) > size/10 || elsewhere > size/10 && !b.too {
		return fmt.Sprintf("%s, %.2f ms elsewhere:\n%s", found, elsewhere/1e6, outline(whole.Tree, 0))
	}
	t.Log(found)
	return ""
}

// follow follows the starts.
func (b blind) follow(t *testing.T, r *Recorder) (all []*record.Trace) {
	t.Helper()
	if err := os.Remove(b.log); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for range b.starts {
		tr, _, err := r.Command(t.Context(), b.argv, true)
		require.NoError(t, err)
		all = append(all, tr)
	}
	return all
}

// stopwatch is what the work noted in each start, ns.
func stopwatch(t *testing.T, log string, starts int) (ns []float64) {
	t.Helper()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	for line := range strings.FieldsSeq(string(text)) {
		v, err := strconv.ParseFloat(line, 64)
		require.NoError(t, err)
		ns = append(ns, v)
	}
	if len(ns) != starts {
		t.Fatalf("the work was done %d times in %d starts", len(ns), starts)
	}
	return ns
}

// caused sums what a cause took below a step, ns.
func caused(s *timeline.Step, step, cause string, inside bool) (ns float64) {
	if s.Cause {
		if inside && strings.Contains(s.Name, cause) {
			return float64(s.NS)
		}
		return 0
	}
	for _, below := range s.Steps {
		ns += caused(below, step, cause, inside || step != "" && strings.Contains(s.Name, step))
	}
	return ns
}

// bundle is a container of the bare runtimes that does nothing.
func bundle(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	root := ctrtest.Rootfs(t, dir)
	config := fmt.Sprintf(`{"ociVersion": "1.0.0", "root": {"path": %q},
 "process": {"cwd": "/", "args": ["/busybox", "true"], "user": {"uid": 0, "gid": 0}},
 "mounts": [], "linux": {"namespaces": [{"type": "mount"}, {"type": "pid"}]}}`, root)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o600))
	return dir
}

// put puts a part into a directory.
func put(t *testing.T, dir, name string, j job) string {
	t.Helper()
	path, err := j.place(dir, name)
	require.NoError(t, err)
	return path
}

// runBeside runs a part beside the starts, until the test ends.
func runBeside(t *testing.T, path string) {
	t.Helper()
	c := exec.Command(path)
	c.Stderr = os.Stderr
	require.NoError(t, c.Start())
	t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
}

// TestFindsMounts: a runtime's wrapper makes a thousand mounts before it creates.
func TestFindsMounts(t *testing.T) {
	r, crun, dir, log := recorder(t), ctrtest.Needs(t, "crun"), bundle(t), filepath.Join(t.TempDir(), "log")
	own := filepath.Join(dir, "mounted")
	require.NoError(t, os.Mkdir(own, 0o755))
	path := put(t, dir, "mounting-runtime", job{Next: crun, Verb: "create", File: own, Log: log})
	b := blind{starts: 16, argv: inSteps(t, path, dir), log: log, step: "mounting-runtime create", cause: "in mount"}
	b.found(t, r)
}

// inSteps is a container's life by a runtime's own commands.
func inSteps(t *testing.T, runtime, bundle string) []string {
	t.Helper()
	id := fmt.Sprintf("plimsoll-blind-%d", os.Getpid())
	t.Cleanup(func() { _ = exec.Command(runtime, "delete", "--force", id).Run() })
	return []string{"sh", "-c", `"$0" create --bundle "$1" "$2" && "$0" start "$2" && "$0" delete --force "$2"`, runtime, bundle, id}
}

// TestFindsLogDriver: containerd's shim waits for a log driver that is slow to be ready.
func TestFindsLogDriver(t *testing.T) {
	r, log := recorder(t), filepath.Join(t.TempDir(), "log")
	logger := put(t, t.TempDir(), "slow-logger", job{Log: log, NS: 20e6})
	b := blind{starts: 6, argv: ctrtest.Start(t, "--log-uri", "binary://"+logger), log: log, step: "slow-logger", cause: "a pause that it makes itself"}
	b.found(t, r)
}

// TestFindsLogReader: what a container prints goes into a pipe, and who reads that one
// takes its time.
func TestFindsLogReader(t *testing.T) {
	r, podman, log, dir := recorder(t), ctrtest.Needs(t, "podman"), filepath.Join(t.TempDir(), "log"), t.TempDir()
	root := ctrtest.Rootfs(t, dir)
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	runBeside(t, put(t, dir, "log-reader", job{File: pipe, Log: log, NS: 100e6}))
	argv := []string{podman, "--root", filepath.Join(dir, "store"), "--runroot", filepath.Join(dir, "state"), "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs",
		"run", "--rm", "--network", "none", "--log-driver", "k8s-file", "--log-opt", "path=" + pipe, "--ulimit", "nofile=512:512", "--ulimit", "nproc=4096:4096", "--rootfs", root, "/busybox", "seq", "60000"}
	b := blind{starts: 6, argv: argv, log: log, step: "log-reader, which reads a pipe that is full", cause: "a pause that it makes itself"}
	b.found(t, r)
}
