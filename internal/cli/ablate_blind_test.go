//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/analyze/sample"
)

// slowMasks is a runtime that pauses in its create if it is to hide paths, and writes
// down how long that took: the true runtime, the log, and a pipe that nobody writes to.
const slowMasks = `#!/bin/bash
all=" $* "
if [[ $all == *" create "* ]]; then
	rest=${all#*--bundle }
	if [[ $(<"${rest%%%% *}/config.json") == *maskedPaths* ]]; then
		exec 3<>%[3]q
		from=$EPOCHREALTIME
		read -rt %[4]g -u 3
		echo "$from $EPOCHREALTIME" >>%[2]q
		exec 3>&-
	fi
fi
exec %[1]q "$@"
`

// timedMasks is one that pauses like it, and writes down how long its whole create took, with
// paths to hide and without: after a pause crun itself takes up to 15 ms longer, as then a
// grace period of RCU begins anew that it would have waited for the rest of.
const timedMasks = `#!/bin/bash
all=" $* "
[[ $all == *" create "* ]] || exec %[1]q "$@"
rest=${all#*--bundle } log=%[2]q from=$EPOCHREALTIME
if [[ $(<"${rest%%%% *}/config.json") == *maskedPaths* ]]; then
	exec 3<>%[3]q
	read -rt %[4]g -u 3
	exec 3>&-
else
	log+=.without
fi
%[1]q "$@" || exit
echo "$from $EPOCHREALTIME" >>"$log"
`

// TestAblateFindsDelay: what one mechanism of a real runtime is made to take longer is
// found to be that mechanism's, and nothing of it another's. The truth is a stopwatch in
// the runtime itself.
func TestAblateFindsDelay(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	e, log := hidingSlowly(t, timedMasks, 0.06)
	// Where others work beside, one of twenty intervals leaves out the truth; that
	// three do is no chance.
	for try := 1; ; try++ {
		costs := costsAlone(t, hereAsItIs, e, slowlyHidden(12)...)
		truth := (paused(t, log) - paused(t, log+".without")) * 1e9
		masks, other := costs["masked-paths"], costs["small-mounts"]
		said := fmt.Sprintf("the paths' hiding was made %.1f ms longer: found are %s for it, %s for the mounts", truth/1e6, ms(masks), ms(other))
		t.Log(said)
		// No noise hides half of it for sure, or finds as much elsewhere.
		if edge(masks.Hi) < truth/2 || edge(other.Lo) > truth/2 {
			t.Fatal(said)
		}
		if near(masks, truth, truth/10) && near(other, 0, truth/10) {
			return
		}
		if try == 3 {
			t.Fatal(said)
		}
	}
}

// hidingSlowly is the engine oci with a crun that takes so long to hide paths, s, by a
// script, and the log of how long it took.
func hidingSlowly(t *testing.T, text string, pause float64) (e engine.Engine, log string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("the bare runtimes need root")
	}
	crun, err := exec.LookPath("crun")
	if err != nil {
		t.Skip("crun is not installed: the lab has it (lab/setup)")
	}
	slow, log := pausing(t, t.TempDir(), "crun", text, crun, pause)
	return oci.New(oci.WithRuntime("crun", slow)), log
}

// pausing puts a script into a directory that pauses, s, in the place of the program of a
// path: what text says of that program, a log, a pipe that nobody writes to and the pause.
func pausing(t *testing.T, dir, name, text, path string, pause float64) (script, log string) {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("bash is not installed: what pauses is written in it")
	}
	beside := t.TempDir()
	script, log, pipe := filepath.Join(dir, name), filepath.Join(beside, "log"), filepath.Join(beside, "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, fmt.Appendf(nil, text, path, log, pipe, pause), 0o755); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	return script, log
}

// slowlyHidden is what ablate is asked about the hiding of paths, in so many blocks.
func slowlyHidden(blocks int) []string {
	return []string{"oci", "runtime=crun", "client=steps", "--mechanism", "masked-paths,small-mounts", "--blocks", strconv.Itoa(blocks)}
}

// hereAsItIs is the world of this machine's programs and variables.
var hereAsItIs = World{LookPath: exec.LookPath, Getenv: os.Getenv}

// near is whether a value is within a distance of the truth, or its interval holds it.
func near(i *sample.Estimate, truth, distance float64) bool {
	return math.Abs(i.Value-truth) <= distance || i.Lo != nil && i.Hi != nil && *i.Lo <= truth && truth <= *i.Hi
}

func ms(i *sample.Estimate) string {
	return fmt.Sprintf("%.1f ms [%.1f, %.1f]", i.Value/1e6, edge(i.Lo)/1e6, edge(i.Hi)/1e6)
}

// costsAlone is what each mechanism of an engine costs alone, ns.
func costsAlone(t *testing.T, like World, e engine.Engine, asked ...string) map[string]*sample.Estimate {
	t.Helper()
	x := takenApart(t, like, e, asked...)
	costs := map[string]*sample.Estimate{}
	for _, s := range slices.Concat(x.Steps, x.Added) {
		costs[s.Mechanism] = s.Alone
	}
	return costs
}

// takenApart is what ablate says of an engine.
func takenApart(t *testing.T, like World, e engine.Engine, asked ...string) *ablation.Waterfall {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"ablate", "--format", "json", "--progress", "none", "--wait", "-d", filepath.Join(t.TempDir(), "run")}, asked...)
	w := within(offline(t.TempDir(), []engine.Engine{e}, &out, &errs, args...), like)
	if status := Main(w); status != int(Done) {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var x []*ablation.Waterfall
	if err := json.Unmarshal(out.Bytes(), &x); err != nil {
		t.Fatal(err)
	}
	return x[0]
}

// paused is the median of the pauses in a log, s.
func paused(t *testing.T, log string) float64 {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var all []float64
	for line := range strings.Lines(string(b)) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		a, err := strconv.ParseFloat(from, 64)
		if err != nil {
			t.Fatal(err)
		}
		z, err := strconv.ParseFloat(to, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, z-a)
	}
	return stats.Median(all)
}

// edge is one end of an interval, NaN where there is none.
func edge(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
