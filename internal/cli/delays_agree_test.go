//go:build linux

package cli

import (
	"fmt"
	"slices"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/engine/podman"
	"plimsoll/internal/understand/analyze/ablation"
)

// TestDelaysAgree makes a mechanism 20 ms dearer, and asks for its cost in both ways at once,
// by taking it away and by following starts with it and without. Both find what was put in,
// and ablate says that they tell the same.
func TestDelaysAgree(t *testing.T) {
	kit := delayed(t)
	// At least so much of what was put in has to be found by both.
	agree := func(t *testing.T, mechanism string, least float64, like World, e engine.Engine, log string, asked ...string) {
		t.Helper()
		quietly(t, func() string {
			x := takenApart(t, like, e, slices.Concat(asked, []string{"--explain"}, expedited(t))...)
			steps := slices.Concat(x.Steps, x.Added)
			i := slices.IndexFunc(steps, func(s ablation.Step) bool { return s.Mechanism == mechanism && s.Alone != nil })
			if i < 0 {
				t.Fatalf("%s was not measured alone", mechanism)
			}
			s := steps[i]
			if s.Observed == nil {
				return fmt.Sprintf("%s costs %s, and was not followed: %s", mechanism, ms(s.Alone), s.Unfollowed)
			}
			truth := paused(t, log) * 1e9
			said := fmt.Sprintf("%.2f ms in %s: it costs %s, and %.2f ms are gone from the way, %.2f ms else (%s)",
				truth/1e6, mechanism, ms(s.Alone), float64(s.Observed.Gone)/1e6, float64(s.Observed.Else)/1e6, s.Observed.Verdict)
			if float64(s.Observed.Gone) < least*truth || s.Alone.Value < least*truth || s.Observed.Verdict != ablation.Same && s.Observed.Verdict != ablation.Elsewhere {
				return fmt.Sprintf("%s: %+v", said, s.Observed)
			}
			t.Log(said)
			return ""
		})
	}
	t.Run("masked-paths", func(t *testing.T) {
		slow, log := hidingSlowly(t, slowMasks, 0.02)
		agree(t, "masked-paths", 0.9, hereAsItIs, slow, log, slowlyHidden(20)...)
	})
	t.Run("network", func(t *testing.T) {
		if d := containerd.New().Detect(t.Context(), kit); !d.Usable {
			t.Skip("containerd does not run here (lab/up starts one): " + d.Reason)
		}
		var log string
		slow := otherHostLocal(t, func(dir, path string) { _, log = pausing(t, dir, "host-local", slowAdd, path, 0.02) })
		agree(t, "network", 0.9, slow, containerd.New(), log, "containerd", "--mechanism", "network", "--blocks", "20")
	})
	t.Run("log-file", func(t *testing.T) {
		slow, log := otherConmon(t, fmt.Sprintf("PAUSES=%.0f", readyAfter))
		// Podman moves the monitor into a control group while that one pauses.
		agree(t, "log-file", 0.7, slow, podman.New(), log, "podman", "network=none", "--mechanism", "log-file", "--blocks", "20")
	})
}
