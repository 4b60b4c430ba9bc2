package gate

import (
	"errors"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/analyzetest"
	"plimsoll/internal/understand/analyze/compare"
)

// The noise floor in the record of either run refuses a gate under it, with no
// further word; one above it stands.
func TestRecordedNoise(t *testing.T) {
	startup := compare.Options{Filter: []compare.Filter{{Key: "metric", Values: []string{"startup"}}}}
	for _, side := range []int{0, 1} {
		runs := [2]*analyze.Result{analyzetest.Run(t, analyzetest.Session(1, 1, nil)), analyzetest.Run(t, analyzetest.Session(2, 1, nil))}
		runs[side].Run.Noise = []record.Noise{{From: record.NoiseSelfTest, Env: "crun", Metric: "startup", Relative: 0.07, Blocks: 10}}
		c, err := compare.Between(runs[0], runs[1], startup)
		require.NoError(t, err)
		var no *RefusedError
		if err := Judge(c, Thresholds{FailAbove: 0.05}); !errors.As(err, &no) || !strings.Contains(no.Why, "noise floor of 7 %") || !strings.Contains(no.Why, [2]string{"BASE", "NEW"}[side]) {
			t.Errorf("%v", err)
		}
		if err := Judge(c, Thresholds{FailAbove: 0.1}); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// A run with an environment that it has twice tells its noise, and of no other
// pair; an imported one has no twins.
func TestTwinsTellTheNoise(t *testing.T) {
	spec := analyzetest.Session(1, 1, func(s *recordtest.Spec) {
		twin := s.Envs[2]
		twin.ID = "crun@b"
		s.Envs = append(s.Envs, twin)
	})
	r := analyzetest.Run(t, spec)
	noise := Noise(r)
	if len(noise) < 5 {
		t.Fatalf("%+v", noise)
	}
	for _, n := range noise {
		if n.From != record.NoiseTwins || n.Env+n.With != "cruncrun@b" && n.Env+n.With != "crun@bcrun" || n.Blocks != 20 || !(n.Relative >= 0 && n.Relative < 0.2) {
			t.Errorf("%+v", n)
		}
	}
	r.Run.Imported = &record.Imported{}
	if noise := Noise(r); noise != nil {
		t.Errorf("%+v", noise)
	}
	// It is recorded in place of what was there of it, and nothing else is lost.
	dir := spec.Write(t)
	for range 2 {
		require.NoError(t, record.SetNoise(dir, record.NoiseTwins, noise))
	}
	require.NoError(t, record.SetNoise(dir, record.NoiseSelfTest, noise[:1]))
	back, err := record.Open(dir)
	if err != nil || len(back.Run().Noise) != len(noise)+1 || back.Run().Status != "done" || len(back.Run().Environments) != 6 {
		t.Errorf("%v: %+v", err, back.Run())
	}
}
