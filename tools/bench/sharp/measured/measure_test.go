package measured

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/common/stats"
	"plimsoll/tools/bench/sharp"
)

func median(x []float64) float64 { return stats.Median(stats.Sorted(x)) }

// TestMeasures goes through a real runtime for some seconds: a program that is three
// starts slower is found to be, by both.
func TestMeasures(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for seconds: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("a bare runtime needs root")
	}
	for _, p := range []string{"crun", "hyperfine", "cc"} {
		if _, err := exec.LookPath(p); err != nil {
			t.Skipf("%s is not here", p)
		}
	}
	const delayed = 3 // starts long, since a busy machine moves one by its own length
	s, err := Measure(context.Background(), sharp.Task{Engine: "crun", Changes: []float64{0, 0, delayed}, Blocks: 6, Runs: 1, PerRound: 3, Calibrate: 6, Say: t.Logf})
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "kept.json")
	require.NoError(t, sharp.Save(path, []*sharp.Stretch{s}))
	all, err := sharp.Load(path)
	if err != nil || len(all) != 1 {
		t.Fatal(err)
	}
	r := all[0].Runs[0]
	var ours, theirs []float64
	for _, b := range r.Blocks {
		if b.Start[0] > 0 && b.Start[2] > 0 {
			ours = append(ours, b.Start[2]-b.Start[0])
		}
	}
	for _, d := range r.Rounds {
		theirs = append(theirs, median(d.Times[2])-median(d.Times[0]))
	}
	if len(ours) < 2 || len(theirs) < 2 {
		t.Fatalf("%d blocks, %d rounds", len(ours), len(theirs))
	}
	for by, d := range map[string]float64{"us": median(ours), "hyperfine": median(theirs)} {
		if is := delayed * s.Start; d < is/3 || d > 2*is {
			t.Errorf("a delay of %.1f ms is %.1f ms by %s", is/1e6, d/1e6, by)
		}
	}
	if _, err := all[0].Answer([]time.Duration{time.Second}, 2); err != nil {
		t.Error(err)
	}
}
