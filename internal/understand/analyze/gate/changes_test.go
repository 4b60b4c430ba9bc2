package gate

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// What is missing, unlike or empty never passes.
func TestGateNeverPassesSilently(t *testing.T) {
	base := analyzetest.Session(1, 1, nil)
	startup := compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}}
	judge := func(change func(*recordtest.Spec), th Thresholds) (*compare.Changes, error) {
		c, err := compare.Between(analyzetest.Run(t, base), analyzetest.Run(t, analyzetest.Session(2, 1, change)), startup)
		if err != nil {
			return nil, err
		}
		return c, Judge(c, th)
	}
	gone := func(s *recordtest.Spec) { s.Envs = s.Envs[:4] }
	c, err := judge(gone, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != compare.GateFails || analyzetest.Find(c, "startup", "podman").Gate.State != compare.GateFails || !strings.Contains(analyzetest.Find(c, "startup", "podman").Missing, "no environment podman") {
		t.Errorf("a lost environment: %v %+v", err, c.Gate)
	}
	if c, err = judge(gone, Thresholds{FailAbove: 0.1, AllowMissing: true}); err != nil || c.Gate.State == compare.GateFails {
		t.Errorf("a lost environment that is allowed: %v %+v", err, c.Gate)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Envs[3].StartUp = 0; s.Envs[3].Class = record.Crash }, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != compare.GateFails || analyzetest.Find(c, "startup", "runc").Gate.State != compare.GateFails {
		t.Errorf("every trial fails: %v", err)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Envs[3].FailEvery, s.Envs[3].Class = 2, record.Crash }, Thresholds{FailAbove: 0.5})
	if err != nil || c.Gate.State != compare.GateFails || len(c.Failures) != 1 || !c.Failures[0].Worse {
		t.Errorf("half of the trials fail: %v", err)
	}
	if _, err = judge(func(s *recordtest.Spec) { s.Until = 1 }, Thresholds{FailAbove: 0.1}); err == nil || !strings.Contains(err.Error(), "no counted trial") {
		t.Errorf("an empty run: %v", err)
	}
	if _, err = judge(func(s *recordtest.Spec) { s.Workloads = []record.Workload{{ID: "other"}} }, Thresholds{FailAbove: 0.1}); err == nil || !strings.Contains(err.Error(), "nothing in common") {
		t.Errorf("another workload: %v", err)
	}
	c, err = judge(func(s *recordtest.Spec) { s.Blocks = 3 }, Thresholds{FailAbove: 0.1})
	if err != nil || c.Gate.State != compare.Inconclusive {
		t.Errorf("three blocks: %v %+v", err, c.Gate)
	}
	// Without a baseline absolute values would be compared.
	c, err = compare.Between(analyzetest.Run(t, analyzetest.Session(1, 1, func(s *recordtest.Spec) { s.Envs = s.Envs[2:] })), analyzetest.Run(t, analyzetest.Session(2, 1, nil)), startup)
	if err != nil || Judge(c, Thresholds{FailAbove: 0.2}) != nil || c.Gate.State != compare.Inconclusive {
		t.Errorf("no baseline: %v %+v", err, c.Gate)
	}
	if err := Judge(c, Thresholds{FailAbove: 0.2, Absolute: true}); err != nil || c.Gate.State != compare.Passed {
		t.Errorf("no baseline, absolute: %v %+v", err, c.Gate)
	}
}

func TestGateIsRefused(t *testing.T) {
	c := analyzetest.Changed(t, analyzetest.Session(1, 1, nil), analyzetest.Session(2, 1, nil), compare.Options{})
	refused := func(what string, err error) {
		t.Helper()
		var no *RefusedError
		if !errors.As(err, &no) || !strings.Contains(err.Error(), what) || no.Advice == "" {
			t.Errorf("%v", err)
		}
	}
	refused("matches no cell", Judge(c, Thresholds{Rules: []Rule{{Where: "g.yaml:3:5", Metric: "startap", FailAbove: 0.1}}}))
	refused("always pass", Judge(c, Thresholds{Rules: []Rule{{Metric: "*", Ignore: true}}}))
	refused("below the noise floor of 6 %, from the self-test", Judge(c, Thresholds{FailAbove: 0.05, Noise: map[string]float64{"": 0.06}}))
	c.NewRun.Run.Host.CPU = "Another 4000"
	c.Facts = compare.Facts(c.BaseRun, c.NewRun)
	refused("machine cpu: Imaginary 3000, now Another 4000", Judge(c, Thresholds{FailAbove: 0.05}))
	if err := Judge(c, Thresholds{FailAbove: 0.5, Unlike: true}); err != nil {
		t.Error(err)
	}
	// Users' machines are as they are: what a tuned one shows says nothing of them.
	c.NewRun.Run.Host.CPU = c.BaseRun.Run.Host.CPU
	for _, tuned := range []*analyze.Result{c.NewRun, c.BaseRun} {
		tuned.Run.Protocol.Tuned = true
		c.Facts = compare.Facts(c.BaseRun, c.NewRun)
		if tuned == c.NewRun {
			refused("protocol tuned machine: false, now true", Judge(c, Thresholds{FailAbove: 0.5}))
		} else if err := Judge(c, Thresholds{FailAbove: 0.5}); err != nil {
			t.Errorf("both on a tuned machine: %v", err)
		}
	}
	// The same environment twice tells the noise of the run.
	twice := func(s *recordtest.Spec) {
		e := s.Envs[4]
		e.ID, e.Sigma = "podman@b", 0.5
		s.Envs[4].Sigma = 0.5
		s.Envs = append(s.Envs, e)
	}
	c = analyzetest.Changed(t, analyzetest.Session(1, 1, twice), analyzetest.Session(2, 1, twice), compare.Options{})
	refused("podman and podman@b, the same environment twice", Judge(c, Thresholds{FailAbove: 0.05}))
}
