package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// everyStudy is the whole catalogue in native, an engine with a daemon and one
// of high-performance computing. Each is tried once: nothing is measured.
const everyStudy = `plimsoll: 1
name: every
extends: everything
protocol: {warmup: 0}
environments: [native, docker, charliecloud]
`

// TestEveryWorkload runs the whole catalogue at its small sizes on real
// engines: what does not work is unsupported by the engine, with its reason.
func TestEveryWorkload(t *testing.T) {
	p := withToolbox(t)
	study, out := filepath.Join(p.dir, "every.yaml"), filepath.Join(p.dir, "every")
	if err := os.WriteFile(study, []byte(everyStudy), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := p.command("run", study, "--small", "--blocks", "1", "--wait", "--progress", "none", "-o", out)
	// It ends itself when it is interrupted, and nothing stays.
	late := time.AfterFunc(15*time.Minute, func() { _ = cmd.Process.Signal(os.Interrupt) })
	defer late.Stop()
	var said bytes.Buffer
	cmd.Stderr = &said
	err := cmd.Run()
	if n := cmd.ProcessState.ExitCode(); err != nil && n != 6 {
		t.Fatalf("%v\n%s", err, said.String())
	}
	everyTrial(t, out)
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
	enginetest.Toolbox(t, enginetest.Kit(t))
	p := &subject{t: t, dir: t.TempDir()}
	if err := os.MkdirAll(filepath.Join(p.dir, "state"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(enginetest.ImageDir(), filepath.Join(p.dir, "state", "images")); err != nil {
		t.Fatal(err)
	}
	return p
}

func everyTrial(t *testing.T, dir string) {
	t.Helper()
	r, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := r.Run()
	for _, x := range run.Excluded {
		t.Logf("%s %s: %s: %s", x.ID, x.Workload, x.Kind, x.Reason)
	}
	if run.Status != "done" || len(run.Residue) > 0 {
		t.Errorf("the run is %s, and left %v behind", run.Status, run.Residue)
	}
	programs := map[string]map[string]bool{}
	good := map[string]int{}
	for tr, err := range r.Trials() {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case tr.Failure == nil:
			good[tr.Env]++
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
	for env, least := range map[string]int{"native": 35, "charliecloud": 30} {
		if good[env] < least {
			t.Errorf("%s: %d workloads succeeded, want at least %d", env, good[env], least)
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
}
