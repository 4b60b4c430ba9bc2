package run

import (
	"os"
	"os/exec"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/baseline"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// TestTenthOfACore: with a limit of a tenth of a processor a busy workload takes
// at least about ten times its CPU time, and is seen to be held back. A busy
// machine makes it take longer, never shorter; it would have to leave the
// workload less than a tenth for the limit to have nothing to do.
func TestTenthOfACore(t *testing.T) {
	if testing.Short() {
		t.Skip("measures this machine: left out with -short")
	}
	busy := file(t, "busy", `run: [sh, -c, 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo answer $i']
metrics:
  - {id: answer, title: answer, unit: count, better: higher, what: A number., regexp: 'answer ([0-9.]+)'}
`)
	for _, c := range []struct {
		limit string
		held  bool
	}{{"0.1", true}, {"none", false}} {
		tr := one(t, "{cpus: "+c.limit+", memory: none}", busy)
		share := tr.Values[workload.MetricCPUTime] / tr.Values[workload.MetricTime]
		t.Logf("limit %s: CPU time over time %.3f, throttled %v ns, peak %v bytes", c.limit, share, tr.Values["payload-throttled"], tr.Values["payload-memory-peak"])
		if c.held && (share > 0.15 || tr.Values["payload-throttled"] <= 0) {
			t.Errorf("limit %s: not held back: CPU time over time is %.3f, throttled for %v ns", c.limit, share, tr.Values["payload-throttled"])
		}
		if !c.held && (tr.Values["payload-throttled"] > 0 || tr.Host.ThrottledNS != nil) {
			t.Errorf("throttled for %v ns without a limit, by the group %v", tr.Values["payload-throttled"], tr.Host.ThrottledNS)
		}
		if c.held && (tr.Host.ThrottledNS == nil || *tr.Host.ThrottledNS < int64(tr.Values["payload-throttled"]/2)) {
			t.Errorf("limit %s: the group was throttled for %v", c.limit, tr.Host.ThrottledNS)
		}
	}
}

// one runs a workload once in native.
func one(t *testing.T, limits string, w workload.Workload) record.Trial {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("native needs root")
	}
	if _, err := exec.LookPath("busybox"); err != nil {
		t.Skip("there is no busybox on this machine")
	}
	dir, _ := runFiles(t, []engine.Engine{baseline.Native{}}, limits, "  - native\n", w)
	tr := results(t, dir)["native"][0]
	if tr.Failure != nil {
		t.Fatalf("%+v", *tr.Failure)
	}
	return tr
}
