package compare_test

import (
	"slices"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/gate"
)

// beside is a session in which runc takes so many times as long, while others have
// so many threads at work; saying is whether that was recorded.
func beside(t *testing.T, seed uint64, slower, others float64, saying bool) *analyze.Result {
	spec := analyzetest.Session(seed, 1, func(s *recordtest.Spec) {
		s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, slower)
	})
	return analyzetest.Run(t, recordtest.Edited{Spec: spec, Each: func(x *record.Trial) {
		if saying && others > 0 {
			x.Running, x.Remarks = &others, append(x.Remarks, record.NotQuiet)
			x.Host = &record.Disturbance{CPUPressureNS: 1e12}
		}
	}})
}

// What others' work may explain is no change, and what it can't is one; where nobody
// was at work the interval is as narrow as without the question.
func TestBusyMachine(t *testing.T) {
	base := beside(t, 1, 1, 0, false)
	for _, k := range []struct {
		name           string
		slower, others float64
		saying         bool
		want           compare.Direction
	}{
		{"30 % slower beside four threads", 1.3, 4, true, compare.Unclear},
		{"30 % slower, and nothing recorded", 1.3, 4, false, compare.Worse},
		{"30 % slower on a calm machine", 1.3, 0, true, compare.Worse},
		{"three times slower beside two threads", 3, 2, true, compare.Worse},
		{"30 % faster beside four threads", 0.7, 4, true, compare.Better},
	} {
		c, err := compare.Between(base, beside(t, 2, k.slower, k.others, k.saying), compare.Options{Filter: startup})
		require.NoError(t, err)
		ch := analyzetest.Find(c, "startup", "runc")
		busy := k.saying && k.others > 0
		if ch.Verdict != k.want || (ch.State != nil) != busy || slices.ContainsFunc(c.Remarks, func(r record.Remark) bool { return r.Code == "another-state" }) != busy {
			t.Errorf("%s: %s %.2f [%.2f, %.2f], %+v", k.name, ch.Verdict, ch.Ratio.Value, *ch.Ratio.Lo, *ch.Ratio.Hi, ch.State)
		}
		// The median of four others on two processors: three times as long, of which a
		// start loses half on the logarithm.
		if k.want == compare.Unclear && (ch.State.Slower < 0.72 || ch.State.Slower > 0.74 || ch.State.Faster != 0 || ch.State.Busy != [2]float64{0, 1}) {
			t.Errorf("%s: %+v", k.name, ch.State)
		}
	}
}

// Two runs that were as busy need not have been slowed down alike.
func TestBothBusy(t *testing.T) {
	c, err := compare.Between(beside(t, 1, 1, 4, true), beside(t, 2, 1.3, 4, true), compare.Options{Filter: startup})
	require.NoError(t, err)
	if ch := analyzetest.Find(c, "startup", "runc"); ch.Verdict != compare.Unclear || ch.State == nil || ch.State.Faster < 0.7 {
		t.Errorf("%s %+v", ch.Verdict, ch.State)
	}
	none, err := compare.Between(beside(t, 1, 1, 4, true), beside(t, 2, 1.3, 4, true), compare.Options{Filter: startup, Against: "none"})
	require.NoError(t, err)
	if ch := analyzetest.Find(none, "startup", "runc"); ch.State != nil || ch.Verdict != compare.Worse {
		t.Errorf("absolute values were asked for: %s %+v", ch.Verdict, ch.State)
	}
}

// A disk that others keep busy is seen at the baselines, and an engine that waits
// longer for a disk by itself is no other state of the machine.
func TestBusyDisk(t *testing.T) {
	run := func(seed uint64, others bool) *analyze.Result {
		spec := analyzetest.Session(seed, 1, func(s *recordtest.Spec) {
			if seed > 1 {
				s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, 1.3)
			}
		})
		return analyzetest.Run(t, recordtest.Edited{Spec: spec, Each: func(x *record.Trial) {
			if seed > 1 && (others || x.Env == "runc") {
				last := int64(0)
				for _, at := range x.Events {
					last = max(last, at)
				}
				x.Host = &record.Disturbance{IOPressureNS: (last - x.Events[record.Request]) * 2 / 5}
			}
		}})
	}
	base := run(1, false)
	for others, want := range map[bool]compare.Direction{true: compare.Unclear, false: compare.Worse} {
		c, err := compare.Between(base, run(2, others), compare.Options{Filter: startup})
		require.NoError(t, err)
		if ch := analyzetest.Find(c, "startup", "runc"); ch.Verdict != want || (ch.State != nil) != others {
			t.Errorf("others at the disk %v: %s %+v", others, ch.Verdict, ch.State)
		}
	}
}

// A gate neither fails nor passes by what others' work may explain, and says so.
func TestGateOnBusyMachine(t *testing.T) {
	c, err := compare.Between(beside(t, 1, 1, 0, false), beside(t, 2, 1.3, 4, true), compare.Options{})
	require.NoError(t, err)
	require.NoError(t, gate.Judge(c, gate.Thresholds{Rules: []gate.Rule{{Environment: "runc", Metric: "startup", FailAbove: 0.03}}}))
	if c.Gate.State != compare.Inconclusive || c.Gate.Machine != 1 {
		t.Errorf("%+v", c.Gate)
	}
}

// Inside a run others' work slows down both, so the verdict is as on a calm machine; that
// one may have disturbed the other is said.
func TestBusyInside(t *testing.T) {
	for others, want := range map[float64]bool{0: false, 4: true} {
		c, err := compare.Within(beside(t, 1, 1, others, true), "crun", "runc", compare.Options{Filter: startup})
		require.NoError(t, err)
		if got := slices.ContainsFunc(c.Remarks, func(r record.Remark) bool { return r.Code == "not-calm" && r.Level == "warn" }); got != want {
			t.Errorf("%v others: %+v", others, c.Remarks)
		}
	}
}
