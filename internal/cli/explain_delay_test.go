//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/understand/timeline"
)

// pauses sums the time that programs of this name spent in a pause of their own
// making.
func pauses(s *timeline.Step, program string, inside bool) (ns int64) {
	if !s.Cause {
		inside = strings.Contains(s.Name, program)
	}
	if s.Cause && inside && strings.Contains(s.Name, "a pause that it makes itself") {
		ns += s.NS
	}
	for _, b := range s.Steps {
		ns += pauses(b, program, inside)
	}
	return ns
}

// TestExplainFindsDelays: a runtime that sleeps before its create or its start is
// found to do so: at that step, by that size, by that name.
func TestExplainFindsDelays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	crun, err := exec.LookPath("crun")
	if err != nil {
		t.Skip("crun is not installed: the lab has it (lab/setup)")
	}
	for _, c := range []struct {
		verb string
		ms   float64
	}{{"create", 5}, {"start", 20}} {
		dir := t.TempDir()
		slow := filepath.Join(dir, "crun")
		if err := os.WriteFile(slow, probe.Binary(), 0o755); err != nil { //nolint:gosec // a runtime is executed
			t.Fatal(err)
		}
		conf := strings.Join([]string{jsonNumber(c.ms * 1e6), c.verb, crun}, " ")
		if err := os.WriteFile(slow+".delay", []byte(conf+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		w := offline(dir, []engine.Engine{oci.New(oci.WithRuntime("crun", slow))}, &out, &errs,
			"explain", "oci", "runtime=crun", "client=steps", "--starts", "6", "--format", "json", "--progress", "none", "--wait")
		w.LookPath = exec.LookPath
		if status := Main(w); status != int(Done) {
			t.Fatalf("status %d: %s", status, errs.String())
		}
		var x timeline.Explanation
		if err := json.Unmarshal(out.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		got, other := float64(pauses(x.Tree, "crun "+c.verb, false))/1e6, float64(pauses(x.Tree, "", false))/1e6
		// It sleeps until so long after its first instruction, some of which passes before.
		if got < 0.9*c.ms || got > c.ms+0.5 || math.Abs(got-other) > 0.5 {
			tree, _ := json.MarshalIndent(x.Tree, "", " ")
			t.Errorf("%g ms in %s: %g ms of pauses are seen there, %g in all: %s", c.ms, c.verb, got, other, tree)
		}
		if share := float64(x.UnexplainedNS) / float64(x.Tree.NS); share > 0.15 {
			t.Errorf("%s: %.0f %% of the start is unexplained", c.verb, 100*share)
		}
	}
}

func jsonNumber(v float64) string {
	b, _ := json.Marshal(int64(v))
	return string(b)
}
