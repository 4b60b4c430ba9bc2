package cli

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
	"plimsoll/internal/record/recordtest"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
)

// spec is a run of native and two engines; by is how much slower one is.
func spec(seed uint64, by float64) recordtest.Spec {
	s := recordtest.Typical()
	s.Envs = slices.Clone([]recordtest.Env{s.Envs[1], s.Envs[4], s.Envs[5]}) // native, crun, runc
	s.Seed, s.PerBlock = seed, 1
	for i := range s.Envs {
		s.Envs[i].Sigma = 0.01
	}
	s.Envs[2].StartUp = time.Duration(float64(s.Envs[2].StartUp) * by)
	return s
}

// rewrite changes the run.json of a record.
func rewrite(t *testing.T, dir string, change func(*record.Run)) *record.Run {
	t.Helper()
	w, r, err := record.Resume(dir)
	require.NoError(t, err)
	change(r)
	require.NoError(t, w.Update(r))
	require.NoError(t, w.Close())
	return r
}

// TestGating: a run is gated by what it was recorded with, whatever it was
// begun by, and BASE must still be what it was.
func TestGating(t *testing.T) {
	base := spec(1, 1).Write(t)
	for _, c := range []struct {
		by, limit float64
		envs      []string
		state     compare.State
		ended     bool
	}{
		{1, 0.5, nil, compare.Passed, true},
		{2, 0.5, nil, compare.GateFails, true},
		{1.1, 0.1, nil, compare.Inconclusive, false},
		{1, 0.5, []string{"crun", "runc"}, compare.GateFails, true},
		{1, 0.5, []string{"runc", "crun"}, compare.Passed, true},
	} {
		dir := spec(2, c.by).Write(t)
		f := runGateFlags{base: base, envs: c.envs}
		if c.envs != nil {
			f.base = ""
		}
		f.failAbove = fmt.Sprintf("%g%%", 100*c.limit)
		gate, err := f.record()
		require.NoError(t, err)
		run := rewrite(t, dir, func(r *record.Run) { r.ID, r.Gate, r.Status = "next0000", gate, "running" })
		g, err := newGating(run)
		require.NoError(t, err)
		s := steering(dir, run, g)
		if s.Pair != (c.envs != nil) {
			t.Errorf("%+v: it compares a pair: %v", c, s.Pair)
		}
		l, err := s.Look(10, "")
		require.NoError(t, err)
		if l.Ended != c.ended || l.Rule != record.RuleGate || !s.At(20) || s.At(30) {
			t.Errorf("%+v: %s", c, s.Say(l))
		}
		rewrite(t, dir, func(r *record.Run) { r.Looks, r.Status = append(r.Looks, l), "done" })
		next, err := readResult(dir)
		require.NoError(t, err)
		answer, err := g.judge(next, false)
		if err != nil || answer.Gate.State != c.state || answer.Gate.Look != 1 || answer.Gate.Looks != 3 {
			t.Errorf("%+v: %v %+v", c, err, answer.Gate)
		}
		// The time is up: it ends whatever it can tell.
		if l, err = s.Look(10, "the time is up"); err != nil || !l.Ended || !c.ended && !strings.Contains(l.Why, "cannot tell, and the time is up") {
			t.Errorf("%+v: %v %+v", c, err, l)
		}
	}
	run := spec(2, 1).Run()
	run.Gate = &record.Gate{Base: base, BaseRun: "another", Looks: 3, FailAbove: 0.5}
	if _, err := newGating(run); err == nil || !strings.Contains(err.Error(), "holds run") {
		t.Errorf("another BASE is taken: %v", err)
	}
}

// TestUntilSteering: what a look says is what a user reads.
func TestUntilSteering(t *testing.T) {
	dir := spec(3, 1).Write(t)
	p := spec(3, 1).Run().Protocol
	p.Until = 0.5
	s := steering(dir, &record.Run{Protocol: p}, nil)
	l, err := s.Look(10, "")
	if err != nil || !l.Ended || s.Say(l) != "looked after 10 blocks: 2 of 2 settled; the run ends: every ratio is known to ± 50 %" {
		t.Errorf("%v %s", err, s.Say(l))
	}
	p.Until = 1e-6
	s = steering(dir, &record.Run{Protocol: p}, nil)
	l, err = s.Look(10, "")
	if err != nil || l.Ended || !strings.HasPrefix(s.Say(l), "looked after 10 blocks: 0 of 2 settled; the widest still open: startup of hello in ") {
		t.Errorf("%v %s", err, s.Say(l))
	}
	if got := s.Foresee(10); !strings.HasPrefix(got, "at the noise of the first 11 blocks, 10 blocks find differences of ") {
		t.Errorf("%q", got)
	}
}

// TestOfPair: who compares two environments of one run, and who holds it against another.
func TestOfPair(t *testing.T) {
	ab := &record.Run{Study: record.Study{Command: "plimsoll ab crun a b", Metrics: []string{"startup"}}, Builds: []record.Build{{Level: abLevels[0]}, {Level: abLevels[1]}}}
	for _, c := range []struct {
		g    *gating
		r    *record.Run
		want bool
	}{
		{nil, &record.Run{}, false},
		{nil, ab, true},
		{nil, &record.Run{Study: record.Study{Command: "plimsoll ab crun ./old ./new"}}, true}, // of sets of programs
		{nil, &record.Run{Study: record.Study{Command: "plimsoll ablate docker"}}, false},
		{&gating{envs: []string{"a", "b"}}, &record.Run{}, true},
		{&gating{base: &analyze.Result{}}, &record.Run{}, false},
	} {
		if got := steering(t.TempDir(), c.r, c.g).Pair; got != c.want {
			t.Errorf("%+v, %q: %v", c.g, c.r.Study.Command, got)
		}
	}
}
