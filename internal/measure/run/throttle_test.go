//go:build !unit

// make unit would link Docker's client only to skip this.

package run

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/docker"
	"plimsoll/internal/record"
)

// A start that a tiny CPU limit held back says for how long: by our own group
// around the engine's command (bubblewrap), and by the container's own, which
// the engine made and removed again (Docker). Without a limit nothing is said.
func TestThrottledStarts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("making control groups needs root")
	}
	for _, c := range []struct {
		e    engine.Engine
		by   string
		cpus float64 // well below what a start takes, which it waits for
	}{{bubblewrap.New(), cgroup.ByUs, 0.02}, {docker.New(), cgroup.ByEngine, 0.04}} {
		t.Run(c.e.Info().Name, func(t *testing.T) {
			throttledStarts(t, c.e, 0, "", cgroup.Nobody)
			throttledStarts(t, c.e, c.cpus, "", c.by)
			// The environment's own limit is in force, and not the study's.
			throttledStarts(t, c.e, 0, fmt.Sprint(c.cpus), c.by)
			throttledStarts(t, c.e, c.cpus, engine.NoLimit, cgroup.Nobody)
		})
	}
}

func throttledStarts(t *testing.T, e engine.Engine, cpus float64, own, by string) {
	t.Helper()
	o := protocolOf(t, "  - hello\n", "  - engine: "+e.Info().Name+"\n", e)
	o.Plan.Protocol.CPUs, o.Plan.Protocol.Blocks = cpus, 3
	if own != "" {
		o.Plan.Environments[0].Levels = map[string]string{engine.CPULimit: own}
		cpus, _ = engine.CPUs(own)
	}
	sum, err := Execute(t.Context(), o)
	if errors.Is(err, ErrNothing) && len(sum.Excluded) > 0 {
		t.Skip("it can't be had here: ", sum.Excluded[0].Reason)
	}
	require.NoError(t, err)
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	if got := r.Run().Environments[0].Facts[cgroup.Limits]; cpus > 0 && got != by {
		t.Errorf("the limit is kept by %q, want %q", got, by)
	}
	trials, throttled := 0, 0
	for tr, err := range r.Trials() {
		require.NoError(t, err)
		if !tr.OK() || tr.Host == nil {
			t.Fatalf("%+v", tr.Failure)
		}
		trials++
		held, start := tr.Host.ThrottledNS, tr.Events[record.Ready]-tr.Events[record.Request]
		switch {
		case cpus == 0 && held != nil:
			t.Errorf("throttled for %d ns without a limit", *held)
		case cpus > 0 && held == nil:
			t.Errorf("with %v CPUs a start of %d ms says nothing", cpus, start/1e6)
		case cpus > 0:
			if *held > 0 { // a start on a busy machine can fall into two periods, each with its quota
				throttled++
			}
			t.Logf("of a start of %d ms it was throttled for %d ms", start/1e6, *held/1e6)
		}
	}
	if trials != 3 {
		t.Errorf("%d trials, want 3", trials)
	}
	if cpus > 0 && throttled == 0 {
		t.Errorf("with %v CPUs none of %d starts was throttled", cpus, trials)
	}
}
