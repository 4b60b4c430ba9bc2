package gate

import (
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// TestGateFindsThePhase: 10 % more in one phase of one engine, on a machine
// that is 4 % slower that day, fail the gate for that engine and that phase.
// Of the other metrics only those may fail that contain the phase, and became
// worse by more than the threshold with it.
func TestGateFindsThePhase(t *testing.T) {
	const limit = 0.05
	quiet := func(s *recordtest.Spec) { s.Blocks, s.PerBlock = 40, 2 }
	base := analyzetest.Run(t, analyzetest.Session(11, 1, quiet))
	for i, phase := range []string{"create", "start", "shutdown", "removal"} {
		next := analyzetest.Session(uint64(20+i), 1.04, quiet)
		c, err := compare.Between(base, analyzetest.Run(t, recordtest.Edited{Spec: next, Each: func(t *record.Trial) {
			if t.Env == "runc" {
				stretch(t, phase, 1.1)
			}
		}}), compare.Options{})
		require.NoError(t, err)
		require.NoError(t, Judge(c, Thresholds{FailAbove: limit}))
		if got := analyzetest.Find(c, phase, "runc"); c.Gate.State != compare.GateFails || got.Gate.State != compare.GateFails || *got.Ratio.Lo > 1.1 || *got.Ratio.Hi < 1.1 {
			t.Errorf("10 %% more in %s: %s, %+v %+v", phase, c.Gate.State, got.Ratio, got.Gate)
		}
		may := []string{phase}
		if phase == "create" { // six tenths of what is until the start
			may = append(may, "bootstrap", "startup")
		}
		for k := range c.Cells {
			if ch := &c.Cells[k]; ch.Gate != nil && ch.Gate.State == compare.GateFails && (ch.Env != "runc" || !slices.Contains(may, ch.Metric.ID)) {
				t.Errorf("10 %% more in %s of runc: the gate fails for %s of %s, %+v", phase, ch.Metric.ID, ch.Env, ch.Ratio)
			}
		}
	}
}

// stretch makes a phase longer and moves what comes after it.
func stretch(t *record.Trial, phase string, by float64) {
	m, _ := record.MetricByID(phase)
	from, to := t.Events[m.From], t.Events[m.To]
	more := int64(float64(to-from) * (by - 1))
	for e, at := range t.Events {
		if at >= to {
			t.Events[e] = at + more
		}
	}
}
