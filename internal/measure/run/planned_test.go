package run

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// file is a workload from the text of its file.
func file(t *testing.T, name, text string) workload.Workload {
	t.Helper()
	w, err := workload.Read(name+".yaml", []byte("plimsoll-workload: 1\nname: "+name+"\ngroup: os\nwhat: A test.\nimage: busybox\n"+text))
	require.NoError(t, err)
	return w
}

// runFiles runs these workloads once in these environments (YAML entries).
func runFiles(t *testing.T, engines []engine.Engine, limits, environments string, works ...workload.Workload) (dir string, sum *Summary) {
	t.Helper()
	cat := &study.Catalogue{Factors: engine.Factors}
	var names []string
	for _, e := range engines {
		i := e.Info()
		cat.Engines = append(cat.Engines, study.EngineInfo{Name: i.Name, Baseline: i.Baseline, Levels: i.Levels, Detached: i.Detached})
	}
	for _, w := range append(workload.Catalogue(), works...) {
		cat.Workloads = append(cat.Workloads, study.WorkloadInfo{Name: w.Name, Parameters: w.Parameters, NeedsDetached: w.Detached, Metrics: w.Metrics})
	}
	for _, w := range works {
		names = append(names, w.Name)
	}
	text := fmt.Sprintf("plimsoll: 1\nname: test\nprotocol: {blocks: 1, warmup: 0, seed: 3, limits: %s}\nworkloads: [%s]\nbaselines: []\nenvironments:\n%s",
		limits, strings.Join(names, ", "), environments)
	st, err := study.Read(study.Source{Path: "test", Data: []byte(text)}, cat)
	require.NoError(t, err)
	plan, err := study.Expand(st, cat, study.Options{})
	require.NoError(t, err)
	o := Options{
		Run: &record.Run{}, Plan: plan, Dir: filepath.Join(t.TempDir(), "run"), Workloads: works,
		Engines: engines, State: State{filepath.Join(t.TempDir(), "state")}, Root: os.Geteuid() == 0,
		Getenv: os.Getenv, LookPath: exec.LookPath, Progress: NoProgress{}, Wait: true, Finish: make(chan struct{}),
	}
	sum, err = Execute(context.WithoutCancel(t.Context()), o)
	require.NoError(t, err)
	if len(sum.Residue) > 0 || sum.Unclean != nil {
		t.Errorf("left behind: %v, %v", sum.Residue, sum.Unclean)
	}
	return o.Dir, sum
}

// TestPlanned: workloads from files in native: steps, servers, references,
// metrics, what was kept of the output; and each kind of failure has its class.
func TestPlanned(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real trials: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native needs root")
	}
	if _, err := exec.LookPath("busybox"); err != nil {
		t.Skip("there is no busybox on this machine")
	}
	const metric = "metrics:\n  - {id: answer, title: answer, unit: count, better: higher, what: A number., regexp: 'answer ([0-9.]+)'}\n"
	works := []workload.Workload{
		file(t, "one", "prepare: [[mkdir, d]]\nrun: [sh, -c, 'test -d d && echo answer 42']\ncleanup: [[rmdir, d]]\n"+metric),
		file(t, "two", `roles:
  server:
    prepare: [[sh, -c, echo answer 7 > index.html]]
    serve: [[httpd, -f, -p, "127.0.0.1:7777", -h, /work]]
    ready: {port: 7777}
  client:
    run: [wget, -q, -O, "-", "http://${server.address}:7777/index.html"]
`+metric),
		file(t, "nothing", "run: [echo, no number]\n"+metric),
		file(t, "missing", "run: [no-such-program]\n"+metric),
		file(t, "fails", "run: [sh, -c, 'exit 3']\n"+metric),
		file(t, "unprepared", "prepare: [['false']]\nrun: [echo, answer 1]\n"+metric),
		file(t, "floods", "run: [sh, -c, 'yes answer 1 | head -c 2000000']\n"+metric),
		file(t, "dead", `roles:
  server:
    serve: [['false']]
    ready: {file: /work/never}
  client:
    run: [echo, answer 1]
`+metric),
	}
	dir, sum := runFiles(t, []engine.Engine{baseline.Native{}}, "{cpus: none, memory: none}", "  - native\n", works...)
	trials := map[string]record.Trial{}
	for _, tr := range results(t, dir)["native"] {
		trials[tr.Workload] = tr
	}
	for name, want := range map[string]float64{"one": 42, "two": 7} {
		tr := trials[name]
		if tr.Failure != nil {
			t.Errorf("%s: %+v", name, *tr.Failure)
			continue
		}
		if tr.Values["answer"] != want || tr.Values[workload.MetricTime] <= 0 || tr.Values[workload.MetricMaxRSS] <= 0 {
			t.Errorf("%s: %v", name, tr.Values)
		}
		if len(tr.Binary) != 64 || tr.Inside == "" || tr.Events[record.First] == 0 || tr.Events[record.Removed] == 0 {
			t.Errorf("%s: %+v", name, tr)
		}
		out, err := os.ReadFile(filepath.Join(dir, record.OutputDir, tr.Output))
		if err != nil || !strings.Contains(string(out), fmt.Sprintf("answer %g", want)) {
			t.Errorf("%s: kept %q, %v", name, out, err)
		}
	}
	failed := 0
	for name, want := range map[string]struct {
		class record.Class
		text  string
	}{
		"nothing":    {record.BadOutput, "answer"},
		"missing":    {record.Unavailable, "no such program"},
		"fails":      {record.Crash, "status 3"},
		"unprepared": {record.Crash, "prepare"},
		"floods":     {record.BadOutput, "MiB"},
		"dead":       {record.Crash, "ended before it was ready"},
	} {
		failed++
		tr := trials[name]
		if tr.Failure == nil || tr.Failure.Class != want.class || !strings.Contains(tr.Failure.Text, want.text) {
			t.Errorf("%s: %+v, want %s with %q", name, tr.Failure, want.class, want.text)
		}
	}
	if sum.Failed != failed {
		t.Errorf("%d trials failed, want %d", sum.Failed, failed)
	}
}
