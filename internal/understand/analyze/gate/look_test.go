package gate

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// What can't be gated is refused before it is measured, and nothing else is.
func TestCanGate(t *testing.T) {
	base := analyzetest.Run(t, analyzetest.Session(1, 1, nil))
	ok := Thresholds{FailAbove: 0.05}
	for _, c := range []struct {
		name   string
		change func(*record.Run)
		t      Thresholds
		why    string
	}{
		{"alike", func(*record.Run) {}, ok, ""},
		{"another CPU", func(r *record.Run) { r.Host.CPU = "other" }, ok, "not measured alike"},
		{"another CPU, unlike", func(r *record.Run) { r.Host.CPU = "other" }, Thresholds{FailAbove: 0.05, Unlike: true}, ""},
		{"another cache", func(r *record.Run) { r.Protocol.Cache = "cold" }, ok, "cache"},
		{"a tuned machine", func(r *record.Run) { r.Protocol.Tuned = true }, ok, "tuned machine: false, now true"},
		{"more blocks", func(r *record.Run) { r.Protocol.Blocks = 40 }, ok, ""},
		{"another workload", func(r *record.Run) { r.Workloads[0].ID = "other" }, ok, "in common"},
		{"no baseline", func(r *record.Run) { r.Environments = r.Environments[2:] }, ok, "no baseline"},
		{"only the yardstick", func(r *record.Run) { r.Environments = r.Environments[:1] }, Thresholds{FailAbove: 0.05, Rules: []Rule{{Environment: "crun", Ignore: true}, {Environment: "runc", Ignore: true}, {Environment: "podman", Ignore: true}}}, "are baselines"},
		{"no threshold", func(*record.Run) {}, Thresholds{}, "no cell has a threshold"},
		{"a rule for nothing", func(*record.Run) {}, Thresholds{FailAbove: 0.05, Rules: []Rule{{Where: "x:1:1", Metric: "nothing", FailAbove: 0.1}}}, "matches no cell"},
		{"noise", func(r *record.Run) { r.Noise = []record.Noise{{From: record.NoiseSelfTest, Relative: 0.2}} }, ok, "noise floor"},
	} {
		run := analyzetest.Session(2, 1, nil).Run()
		c.change(run)
		err := CanGate(base, run, c.t)
		var no *RefusedError
		if (err != nil) != (c.why != "") || err != nil && (!errors.As(err, &no) || !strings.Contains(no.Why, c.why) || no.Advice == "") {
			t.Errorf("%s: %v, not %q", c.name, err, c.why)
		}
	}
}

// A run that still goes on is looked at as it is; one that ended is to be whole,
// and so is BASE before anything is held against it.
func TestGateWhileRunning(t *testing.T) {
	base := analyzetest.Run(t, analyzetest.Session(1, 1, nil))
	next := analyzetest.Run(t, analyzetest.Session(2, 1, nil))
	next.Run.Status = "running"
	for looking, want := range map[bool]compare.State{true: compare.Passed, false: compare.Inconclusive} {
		c, err := compare.Between(base, next, compare.Options{})
		require.NoError(t, err)
		if err := Judge(c, Thresholds{FailAbove: 0.5, Looking: looking}); err != nil || c.Gate.State != want {
			t.Errorf("looking %v: %v %+v", looking, err, c.Gate)
		}
	}
	base.Run.Status = "interrupted"
	if err := CanGate(base, analyzetest.Session(2, 1, nil).Run(), Thresholds{FailAbove: 0.5}); err == nil || !strings.Contains(err.Error(), "incomplete") {
		t.Errorf("BASE was interrupted: %v", err)
	}
}

// A gate's look lets go of what it has decided and of what it does not ask
// about, and ends with the first failure or with the last answer.
func TestGateLook(t *testing.T) {
	gated := func(limit float64, change func(*recordtest.Spec)) *compare.Changes {
		c := analyzetest.Changed(t, analyzetest.Session(1, 1, nil), analyzetest.Session(2, 1, change), compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}})
		c.NewRun.Run.Gate = &record.Gate{Looks: 3}
		require.NoError(t, Judge(c, Thresholds{FailAbove: limit, Rules: []Rule{{Environment: "podman", Ignore: true}}}))
		return c
	}
	c := gated(0.5, nil)
	if l := Look(c); !l.Ended || c.Gate.State != compare.Passed || l.Asked != 4 || l.Settled != 4 || c.Gate.Looks != 3 {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	c = gated(0.5, func(s *recordtest.Spec) { s.Envs[2].StartUp *= 3 })
	if l := Look(c); !l.Ended || c.Gate.State != compare.GateFails || !strings.Contains(l.Why, "fails") {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	c = gated(0.05, func(s *recordtest.Spec) { s.Envs[2].StartUp = analyzetest.Scaled(s.Envs[2].StartUp, 1.05) })
	l := Look(c)
	gone := analyzetest.Left(l)
	if l.Ended || gone["crun"] || gone["native"] || gone["floor"] || !gone["podman"] || !gone["runc"] {
		t.Errorf("%+v %+v", c.Gate, l)
	}
	// Three looks ask more of each than one.
	one := analyzetest.Changed(t, analyzetest.Session(1, 1, nil), analyzetest.Session(2, 1, nil), compare.Options{})
	if err := Judge(one, Thresholds{FailAbove: 0.5}); err != nil || one.Gate.Looks != 0 || one.Gate.Level != 0.95 {
		t.Errorf("%v %+v", err, one.Gate)
	}
}
