package compare_test

import (
	"errors"
	"math"
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

// One environment is 10 % slower, on a machine that is 7 % slower that day:
// that environment is found, and no other.
func TestChangeIsFound(t *testing.T) {
	c := analyzetest.Changed(t, analyzetest.Session(1, 1, nil), analyzetest.Session(2, 1.07, func(s *recordtest.Spec) { s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, 1.15) }), compare.Options{})
	if c.Interleaved || c.Test != "Mann-Whitney" && c.Test != "Welch" {
		t.Errorf("%v, %s", c.Interleaved, c.Test)
	}
	for _, env := range []string{"floor", "crun", "runc", "podman"} {
		ch := analyzetest.Find(c, "startup", env)
		if want := map[bool]float64{true: 1.15, false: 1}[env == "runc"]; *ch.Ratio.Lo > want || *ch.Ratio.Hi < want || ch.Against != "" || ch.Control.Baselines[0].Baseline != map[bool]string{true: "floor", false: "native"}[ch.Env == "native"] || ch.Control.Sum() < 0.5 {
			t.Errorf("%s: %+v by %+v", env, ch.Ratio, ch.Control)
		}
		if (ch.Verdict == compare.Worse) != (env == "runc") {
			t.Errorf("%s is %s", env, ch.Verdict)
		}
	}
	if n := analyzetest.Find(c, "startup", "native"); len(n.Control.Baselines) != 1 || n.Control.Baselines[0].Baseline != "floor" {
		t.Errorf("native is held against %+v", n.Control)
	}
	if m := analyzetest.Find(c, "create", "runc"); len(m.Control.Baselines) != 2 || m.Control.Baselines[0].Metric != "startup" {
		t.Errorf("create is held against %+v", m.Control)
	}
	require.NoError(t, gate.Judge(c, gate.Thresholds{FailAbove: 0.05, Rules: []gate.Rule{{Metric: "output-delay", Ignore: true}, {Metric: "execution", Ignore: true}}}))
	if c.Gate.State != compare.GateFails {
		t.Fatalf("%+v", c.Gate)
	}
	for i := range c.Cells {
		if ch := &c.Cells[i]; ch.Gate != nil && (ch.Gate.State == compare.GateFails) && ch.Env != "runc" {
			t.Errorf("the gate fails for %s in %s: %s", ch.Metric.ID, ch.Env, ch.Gate.Reason)
		}
	}
	// The other way round it is better, and nothing fails.
	c = analyzetest.Changed(t, analyzetest.Session(2, 1.07, func(s *recordtest.Spec) { s.Envs[3].StartUp = analyzetest.Scaled(s.Envs[3].StartUp, 1.15) }), analyzetest.Session(1, 1, nil), compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
	if v := analyzetest.Find(c, "startup", "runc").Verdict; v != compare.Better {
		t.Errorf("runc is %s", v)
	}
	if err := gate.Judge(c, gate.Thresholds{FailAbove: 0.1}); err != nil || c.Gate.State == compare.GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
}

func TestChangeHigherIsBetter(t *testing.T) {
	run := func(seed uint64, v float64) recordtest.Spec {
		return analyzetest.Session(seed, 1, func(s *recordtest.Spec) {
			s.Workloads = []record.Workload{{ID: "hello", Metrics: []record.Metric{{ID: "events", Unit: "1/s", Better: record.HigherIsBetter, Title: "events"}}}}
			for i := range s.Envs {
				s.Envs[i].Values = map[string]float64{"events": 1000}
			}
			s.Envs[2].Values = map[string]float64{"events": v}
		})
	}
	o := compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"events"}}}}
	c := analyzetest.Changed(t, run(1, 1000), run(2, 850), o)
	if v := analyzetest.Find(c, "events", "crun").Verdict; v != compare.Worse {
		t.Errorf("fewer events are %s", v)
	}
	if err := gate.Judge(c, gate.Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Failed != 1 || analyzetest.Find(c, "events", "crun").Gate.State != compare.GateFails {
		t.Errorf("%v %+v", err, c.Gate)
	}
	c = analyzetest.Changed(t, run(1, 1000), run(2, 1150), o)
	if err := gate.Judge(c, gate.Thresholds{FailAbove: 0.05}); err != nil || c.Gate.Failed != 0 || analyzetest.Find(c, "events", "crun").Verdict != compare.Better {
		t.Errorf("%v %+v", err, c.Gate)
	}
}

func TestWithinAndGrouping(t *testing.T) {
	res := analyzetest.Run(t, analyzetest.Session(1, 1, nil))
	c, err := compare.Within(res, "crun", "runc", compare.Options{})
	require.NoError(t, err)
	ch := analyzetest.Find(c, "startup", "crun")
	if !c.Interleaved || ch.Verdict != compare.Worse || math.Abs(ch.Ratio.Value-24.0/13) > 0.1 || ch.Name() != "crun → runc" {
		t.Errorf("%+v", ch)
	}
	if err := gate.Judge(c, gate.Thresholds{FailAbove: 0.05}); err != nil || c.Gate.State != compare.GateFails {
		t.Errorf("%v", err)
	}
	var no *analyze.ChoiceError
	if _, err := compare.Within(res, "crun", "rync", compare.Options{}); !errors.As(err, &no) || no.Word != "rync" {
		t.Errorf("%v", err)
	}
	other := analyzetest.Session(2, 1, nil)
	g := analyzetest.Changed(t, analyzetest.Session(1, 1, nil), other, compare.Options{Row: []string{"engine"}, Col: []string{"metric"}}).Grouping
	row := slices.IndexFunc(g.Rows, func(r []string) bool { return r[0] == "manager" })
	if p := g.Places[row][0]; len(p.Cells) != 2 || !slices.Equal(p.Hidden, []string{"runtime"}) {
		t.Errorf("crun and runc stand in one place: %+v", p)
	}
	for _, o := range []compare.Options{{Row: []string{"colour"}}, {Filter: []compare.Filter{{Key: "runtime", Values: []string{"youki"}}}}, {Filter: []compare.Filter{{Key: "x", Values: []string{"y"}}}}} {
		if _, err := compare.Between(res, analyzetest.Run(t, other), o); !errors.As(err, &no) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"a*", "abc", true}, {"*c", "abc", true}, {"a*c", "abc", true},
		{"a*b*c", "a-b-c", true}, {"a*b*c", "a-c", false}, {"ab*ba", "aba", false}, {"fake/*/api", "fake/x/api", true}} {
		if compare.Glob(c.pattern, c.name) != c.want {
			t.Errorf("%s and %s", c.pattern, c.name)
		}
	}
}
