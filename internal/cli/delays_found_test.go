//go:build linux

package cli

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/host"
	"plimsoll/internal/understand/analyze/sample"
)

// slowAdd is a CNI plug-in that pauses when it is to add a container, and writes down how
// long that took.
const slowAdd = `#!/bin/bash
if [[ $CNI_COMMAND == ADD ]]; then
	exec 3<>%[3]q
	from=$EPOCHREALTIME
	read -rt %[4]g -u 3
	echo "$from $EPOCHREALTIME" >>%[2]q
	exec 3>&-
fi
exec %[1]q "$@"
`

// TestDelaysExplained puts 5 ms into a runtime's create or its start, or 20 ms into a CNI
// plug-in: the timeline finds it at that program, to a tenth, and no pause elsewhere.
func TestDelaysExplained(t *testing.T) {
	kit := delayed(t)
	find := func(name string, w World, e engine.Engine, env []string, program string, ms float64) {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			quietly(t, func() string {
				x := explained(t, state, w, e, append(append(env, expedited(t)...), "--starts", "20"))
				got, all := float64(pauses(x.Tree, program, false))/1e6, float64(pauses(x.Tree, "", false))/1e6
				said := fmt.Sprintf("%g ms in %s: %.2f ms are found there, %.2f ms elsewhere, in a start of %.1f ms, %.1f %% of which have no cause",
					ms, program, got, all-got, x.NS/1e6, 100*float64(x.UnexplainedNS)/float64(x.Tree.NS))
				if math.Abs(got-ms) > ms/10 || all-got > ms/10 {
					return said
				}
				t.Log(said)
				return ""
			})
		})
	}
	if crun, err := exec.LookPath("crun"); err != nil {
		t.Log("crun is not installed: the lab has it (lab/setup)")
	} else {
		for _, verb := range []string{"create", "start"} {
			slow := slowed(t, t.TempDir(), "crun", 5, verb, crun)
			find(verb, hereAsItIs, oci.New(oci.WithRuntime("crun", slow)), []string{"oci", "runtime=crun", "client=steps"}, "crun "+verb, 5)
		}
	}
	if d := containerd.New().Detect(t.Context(), kit); !d.Usable {
		t.Log("containerd does not run here (lab/up starts one): " + d.Reason)
		return
	}
	w := otherHostLocal(t, func(dir, path string) { slowed(t, dir, "host-local", 20, "-", path) })
	find("network", w, containerd.New(), []string{"containerd"}, "host-local", 20)
}

// TestDelaysAblated: 5 ms while a runtime hides paths and 20 ms in a CNI plug-in are found
// by leaving the mechanism out, to a tenth or within the interval. The truth is a stopwatch
// in what pauses.
func TestDelaysAblated(t *testing.T) {
	kit := delayed(t)
	t.Run("masked-paths", func(t *testing.T) {
		slow, log := hidingSlowly(t, slowMasks, 0.005)
		quick, _ := hidingSlowly(t, slowMasks, 0)
		quietly(t, func() string {
			asked := append(slowlyHidden(40), expedited(t)...)
			with, without := costsAlone(t, hereAsItIs, slow, asked...), costsAlone(t, hereAsItIs, quick, asked...)
			truth := paused(t, log) * 1e9
			return moreBy(t, "the hiding of paths", with["masked-paths"], without["masked-paths"], with["small-mounts"], truth)
		})
	})
	t.Run("network", func(t *testing.T) {
		if d := containerd.New().Detect(t.Context(), kit); !d.Usable {
			t.Skip("containerd does not run here (lab/up starts one): " + d.Reason)
		}
		var log string
		slow := otherHostLocal(t, func(dir, path string) { _, log = pausing(t, dir, "host-local", slowAdd, path, 0.02) })
		quick := otherHostLocal(t, func(dir, path string) { pausing(t, dir, "host-local", slowAdd, path, 0) })
		asked := append([]string{"containerd", "--mechanism", "network", "--blocks", "30"}, expedited(t)...)
		quietly(t, func() string {
			with, without := costsAlone(t, slow, containerd.New(), asked...), costsAlone(t, quick, containerd.New(), asked...)
			truth := paused(t, log) * 1e9
			return moreBy(t, "a plug-in", with["network"], without["network"], nil, truth)
		})
	})
}

// moreBy says what is wrong where a mechanism that pauses does not cost what it pauses
// more than it does without, or where another one costs half of that.
func moreBy(t *testing.T, where string, with, without, other *sample.Estimate, truth float64) string {
	t.Helper()
	more, off := with.Value-without.Value, math.Hypot(half(with), half(without))
	said := fmt.Sprintf("%.2f ms in %s: it costs %s, and %s without: %.2f ms ± %.2f more", truth/1e6, where, ms(with), ms(without), more/1e6, off/1e6)
	if other != nil {
		said += "; another " + ms(other)
	}
	if off > truth/2 {
		t.Skip("this machine scatters too much to show it: " + said)
	}
	if !isTruth(more, off, truth) || other != nil && !(edge(other.Lo) < truth/2) {
		return said
	}
	t.Log(said)
	return ""
}

// delayed leaves a test out that finds milliseconds, unless it is asked for.
func delayed(t *testing.T) *engine.Kit {
	t.Helper()
	if os.Getenv("PLIMSOLL_DELAYS") == "" {
		t.Skip("needs a quiet machine for two minutes: make test-delays")
	}
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does, and the bare runtimes, need root")
	}
	return enginetest.Kit(t)
}

// half is half the width of an interval, +Inf where there is none.
func half(e *sample.Estimate) float64 {
	if e.Lo == nil || e.Hi == nil {
		return math.Inf(1)
	}
	return (*e.Hi - *e.Lo) / 2
}

// isTruth is whether a value is the truth, to a tenth or as exactly as it is known.
func isTruth(value, off, truth float64) bool {
	return math.Abs(value-truth) <= max(off, truth/10)
}

// quietly tries until nothing is wrong. What is wrong twice on a machine where nothing else
// is at work, before it and behind it, is no chance; where something always is, nothing
// can be said.
func quietly(t *testing.T, try func() (wrong string)) {
	t.Helper()
	m, err := host.Machine{}.NewMeter()
	require.NoError(t, err)
	defer func() { _ = m.Close() }()
	disturbed := func() string {
		time.Sleep(time.Second) // what was before ends
		m.Read()
		time.Sleep(2 * time.Second)
		b, ok := m.Read()
		if !ok || b.Busy-b.Steal > 0.1 || b.Steal > 0.01 {
			return fmt.Sprintf("others use %.0f %% of its processors, its hypervisor %.0f %%", 100*(b.Busy-b.Steal), 100*b.Steal)
		}
		return ""
	}
	busy, failed := "", 0
	for range 6 {
		if why := disturbed(); why != "" {
			busy = why
			continue
		}
		wrong := try()
		if wrong == "" {
			return
		}
		t.Log(wrong)
		if why := disturbed(); why != "" {
			busy = why
		} else if failed++; failed == 2 {
			t.Fatal(wrong)
		}
	}
	t.Skip("the machine is busy: " + busy)
}
