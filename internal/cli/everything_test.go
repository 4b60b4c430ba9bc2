package cli

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/record"
)

// everyStudy is the whole catalogue in some environments. Each is tried once: nothing is
// measured, and a few containers side by side are as good as the study's twenty. A
// user's own server and its client are with them: the image lies there already.
const everyStudy = `plimsoll: 1
name: every
extends: everything
protocol: {warmup: 0}
workloads:
  - {name: density, parameters: {count: 4}}
  - {name: load, parameters: {rate: 2}}
  - {name: small-files, parameters: {files: [own, bind, volume, tmpfs]}}
  - {name: iperf3, parameters: {protocol: [tcp, udp]}}
  - {file: ./http-server.yaml}
  - others
environments: [%s]
`

// TestEveryWorkload runs the whole catalogue at its small sizes in native and in an
// engine with a daemon: what does not work is unsupported by the engine, with its reason.
func TestEveryWorkload(t *testing.T) {
	everyWorkload(t, map[string]int{"native": 35, "docker": 35})
}

// TestSiteEveryWorkload does so in an engine of high-performance computing.
func TestSiteEveryWorkload(t *testing.T) {
	if !*atSite {
		t.Skip("the catalogue in native and one engine is TestEveryWorkload: PLIMSOLL_SITE=1 runs it in this one too")
	}
	everyWorkload(t, map[string]int{"native": 35, "charliecloud": 30})
}

// everyWorkload runs the catalogue in environments, of which each must succeed in so many
// workloads if it is there.
func everyWorkload(t *testing.T, least map[string]int) {
	t.Helper()
	p := withToolbox(t)
	study, out := filepath.Join(p.dir, "every.yaml"), filepath.Join(p.dir, "every")
	text := fmt.Sprintf(everyStudy, strings.Join(slices.Sorted(maps.Keys(least)), ", "))
	require.NoError(t, os.WriteFile(study, []byte(text), 0o644))
	own, err := os.ReadFile("../../examples/http-server.yaml")
	if err == nil {
		err = os.WriteFile(filepath.Join(p.dir, "http-server.yaml"), own, 0o644)
	}
	require.NoError(t, err)
	cmd := p.command("run", study, "--small", "--blocks", "1", "--wait", "--progress", "none", "-o", out)
	// It ends itself when it is interrupted, and nothing stays.
	late := time.AfterFunc(15*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	var said bytes.Buffer
	cmd.Stderr = &said
	err = cmd.Run()
	if n := cmd.ProcessState.ExitCode(); err != nil && n != 6 {
		t.Fatalf("%v\n%s", err, said.String())
	}
	everyTrial(t, out, least)
}

// withToolbox is a user of the command line who has the image toolbox.
func withToolbox(t *testing.T) *subject {
	t.Helper()
	if testing.Short() {
		t.Skip("loads a large image into several engines: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("native and the toolbox need root")
	}
	imagetest.Toolbox(t, enginetest.Kit(t))
	p := &subject{t: t, dir: t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(p.dir, "state"), 0o755))
	require.NoError(t, os.Symlink(imagetest.ImageDir(), filepath.Join(p.dir, "state", "images")))
	return p
}

func everyTrial(t *testing.T, dir string, least map[string]int) {
	t.Helper()
	r, err := record.Open(dir)
	require.NoError(t, err)
	run := r.Run()
	for _, x := range run.Excluded {
		t.Logf("%s %s: %s: %s", x.ID, x.Workload, x.Kind, x.Reason)
	}
	if run.Status != "done" || len(run.Residue) > 0 {
		t.Errorf("the run is %s, and left %v behind", run.Status, run.Residue)
	}
	programs := map[string]map[string]bool{}
	good, tried, served := map[string]int{}, map[string]int{"native": 1}, map[string]bool{}
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		tried[tr.Env]++
		switch {
		case tr.Failure == nil:
			good[tr.Env]++
			if strings.HasPrefix(tr.Workload, "http-server") {
				served[tr.Env] = answered(tr.Values)
			}
			if tr.Binary != "" {
				if programs[tr.Workload] == nil {
					programs[tr.Workload] = map[string]bool{}
				}
				programs[tr.Workload][tr.Binary] = true
			}
		case tr.Failure.Class == record.Unsupported:
			t.Logf("%s %s: %s", tr.Env, tr.Workload, tr.Failure.Text)
		default:
			t.Errorf("%s %s failed: %s: %s", tr.Env, tr.Workload, tr.Failure.Class, tr.Failure.Text)
		}
	}
	t.Logf("trials that succeeded: %v", good)
	for env, n := range least {
		if good[env] < n && tried[env] > 0 {
			t.Errorf("%s: %d workloads succeeded, want at least %d", env, good[env], n)
		}
		if !served[env] && tried[env] > 0 && env != "charliecloud" { // which may say that it can't
			t.Errorf("%s: the user's own server has no values", env)
		}
	}
	if len(programs) < 25 {
		t.Errorf("of %d workloads it is known which program ran", len(programs))
	}
	for w, digests := range programs {
		if len(digests) != 1 {
			t.Errorf("%s ran another program in one environment than in another: %v", w, digests)
		}
	}
	for env := range least {
		if tried[env] == 0 {
			t.Skipf("%s is not here: what was excluded says why", env)
		}
	}
}
