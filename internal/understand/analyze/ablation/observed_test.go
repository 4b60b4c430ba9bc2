package ablation

import (
	"slices"
	"testing"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

func TestVerdict(t *testing.T) {
	lo, hi := 40e6, 60e6
	narrow, wide := &sample.Estimate{Value: 50e6}, &sample.Estimate{Value: 50e6, Lo: &lo, Hi: &hi}
	for _, c := range []struct {
		cost       *sample.Estimate
		gone, rest int64
		want       Verdict
	}{
		{narrow, 41e6, 0, Same},
		{narrow, 39e6, 0, Open},
		{wide, 40e6, -30e6, Same}, // inside the interval; what else changed is another thing's
		{narrow, 20e6, 25e6, Elsewhere},
		{narrow, 80e6, -35e6, Elsewhere}, // what was waited for next became longer
		{narrow, 20e6, 5e6, Open},
		{narrow, 80e6, 35e6, Open},
	} {
		s := Step{Alone: c.cost}
		if got := s.verdict(&record.Observed{Gone: c.gone, Else: c.rest}); got != c.want {
			t.Errorf("%v of which %d ns are gone and %d else: %q, expected %q", c.cost, c.gone, c.rest, got, c.want)
		}
	}
	// Where the traced starts scatter, they may differ by the cost all the same.
	for _, c := range []struct {
		cost   *sample.Estimate
		lo, hi int64
		want   Verdict
	}{
		{wide, 10e6, 45e6, Scattered},
		{wide, 55e6, 90e6, Scattered},
		{wide, 10e6, 39e6, Open},
		{wide, 61e6, 90e6, Open},
		{narrow, 10e6, 90e6, Open}, // a cost without an interval
		{wide, 0, 0, Open},         // too few starts
	} {
		s := Step{Alone: c.cost}
		if got := s.verdict(&record.Observed{Gone: 20e6, Else: 5e6, Lo: c.lo, Hi: c.hi}); got != c.want {
			t.Errorf("%v and %d to %d ns by the traced starts: %q, expected %q", c.cost, c.lo, c.hi, got, c.want)
		}
	}
	// The starts beside the traced ones say whether only these differ by something else.
	for _, c := range []struct {
		cost   *sample.Estimate
		lo, hi int64
		want   Verdict
	}{
		{wide, 15e6, 30e6, Beside},
		{wide, 24e6, 30e6, Beside}, // all that changed, not only what is gone
		{wide, 15e6, 42e6, Open},   // they may differ by the cost as well
		{wide, 30e6, 39e6, Open},   // by neither
		{wide, 0, 0, Open},         // too few
		{narrow, 15e6, 30e6, Open}, // a cost without an interval
	} {
		s := Step{Alone: c.cost}
		if got := s.verdict(&record.Observed{Gone: 20e6, Else: 5e6, Lo: 18e6, Hi: 30e6, PlainLo: c.lo, PlainHi: c.hi}); got != c.want {
			t.Errorf("%v and %d to %d ns by the starts beside them: %q, expected %q", c.cost, c.lo, c.hi, got, c.want)
		}
	}
	is := func(with, without int64) bool { return record.ObservedStep{With: with, Without: without}.Gone() }
	if !is(10, 0) || !is(1, 11) || is(10, 2) || (record.ObservedStep{With: 10, Anyhow: true}).Gone() {
		t.Error("a step is gone where hardly anything of it is left, unless it is no mechanism's")
	}
}

// Each mechanism that was taken away alone is either followed or says why it is not.
func TestObserve(t *testing.T) {
	around := func(v, half float64) *sample.Estimate {
		lo, hi := v-half, v+half
		return &sample.Estimate{Value: v, Lo: &lo, Hi: &hi}
	}
	of := func(engine, name string, alone *sample.Estimate) Step {
		return Step{Kind: Mechanism, Of: engine, Mechanism: name, Alone: alone}
	}
	made := func() *Waterfall {
		w := &Waterfall{Engine: "top", Workload: "hello", Metric: startup, Steps: []Step{
			of("top", "network", around(50, 5)), of("top", "seccomp", around(20, 2)), of("top", "runtime", around(20, 2)),
			of("top", "keyring", around(1, 4)), of("top", "masks", around(-10, 4)), of("top", "pids", around(6, 1)), of("top", "client", &sample.Estimate{Value: 3}), of("top", "late", around(9, 1)),
			of("top", "cgroup", nil), of("low", "keyring", nil), {Kind: Last, Of: "low", Mechanism: "floor"},
		}}
		w.Steps[8].Missing = "it is not there"
		return w
	}
	told := &record.Timeline{Engine: "top", Workload: "hello", Metric: startup.ID, Starts: 10, Mechanisms: []record.Observed{
		{Mechanism: "network", Gone: 48}, {Mechanism: "seccomp", Gone: 10, Else: 9, Steps: []record.ObservedStep{{Name: "prctl", With: 10}, {Name: "faults", With: 9, Without: 4}}}, {Mechanism: "runtime", Gone: 90}, {Mechanism: "pids", Gone: -4, Else: 3, Lo: -20, Hi: 18}, {Mechanism: "nonesuch", Gone: 1},
	}}
	w := made()
	w.Observe(told)
	if *w.Timeline != (Agreement{Starts: 10, Same: 1, Elsewhere: 1, Scattered: 1, Open: 1, Unfollowed: 4}) || w.Timeline.Followed() != 4 {
		t.Errorf("%+v", w.Timeline)
	}
	var verdicts []Verdict
	for _, s := range w.Steps[:3] {
		if s.Observed == nil || s.Unfollowed != "" {
			t.Fatalf("%s was followed, and is %+v", s.Mechanism, s)
		}
		verdicts = append(verdicts, s.Observed.Verdict)
	}
	if !slices.Equal(verdicts, []Verdict{Same, Elsewhere, Open}) || w.Steps[0].Observed.Gone != 48 {
		t.Errorf("%v, %+v", verdicts, w.Steps[0].Observed)
	}
	if s := w.Steps[1].Observed.Steps; len(s) != 2 || s[0].Name != "faults" || told.Mechanisms[1].Steps[0].Name != "prctl" {
		t.Errorf("the steps that stay are not the first, or the record's own were changed: %+v, %+v", s, told.Mechanisms[1].Steps)
	}
	if s := w.Steps[5]; s.Observed == nil || s.Observed.Verdict != Scattered {
		t.Errorf("%+v", s)
	}
	w.Steps = slices.Delete(w.Steps, 5, 6)
	for i, want := range []string{"no cost is certain: the interval holds 0", "it costs nothing: starts without it take longer",
		"no cost is certain: too few blocks for an interval", "the record has no traced starts of it", "", "", ""} {
		if s := w.Steps[3+i]; s.Unfollowed != want || s.Observed != nil {
			t.Errorf("%s of %s: not followed, since %q, expected %q", s.Mechanism, s.Of, s.Unfollowed, want)
		}
	}
	// What is added is asked of too.
	w = &Waterfall{Engine: "top", Workload: "hello", Metric: startup, Steps: []Step{of("top", "network", around(50, 5))},
		Added: []Step{{Kind: Addition, Of: "top", Mechanism: "log", Alone: around(20, 2)}, {Kind: Addition, Of: "top", Mechanism: "init", Alone: around(1, 2)}, {Kind: Addition, Of: "top", Mechanism: "late"}}}
	w.Steps[0].Price = "nobody reaches it"
	if c := w.Costly(); len(c) != 2 || c[0].Mechanism != "network" || c[1].Mechanism != "log" {
		t.Errorf("%+v", c)
	}
	w.Observe(&record.Timeline{Engine: "top", Workload: "hello", Metric: startup.ID, Starts: 10, Mechanisms: []record.Observed{{Mechanism: "log", Gone: 19}}})
	if *w.Timeline != (Agreement{Starts: 10, Same: 1, Unfollowed: 2}) || w.Added[0].Observed == nil || w.Added[1].Unfollowed == "" || w.Added[2].Unfollowed != "" {
		t.Errorf("%+v, %+v", w.Timeline, w.Added)
	}
	// What is more than a fifth off, inside a wide interval, is the same and says so.
	w = &Waterfall{Engine: "top", Workload: "hello", Metric: startup, Steps: []Step{of("top", "network", around(50, 30)), of("top", "seccomp", around(20, 8))}}
	w.Observe(&record.Timeline{Engine: "top", Workload: "hello", Metric: startup.ID, Starts: 10, Overhead: 1.03, Lost: 4, Mechanisms: []record.Observed{{Mechanism: "network", Gone: 75}, {Mechanism: "seccomp", Gone: 23}}})
	if *w.Timeline != (Agreement{Starts: 10, Same: 2, Inside: 1, Overhead: 1.03, Lost: 4}) || !w.Steps[0].Observed.Inside || w.Steps[1].Observed.Inside {
		t.Errorf("%+v: %+v, %+v", w.Timeline, w.Steps[0].Observed, w.Steps[1].Observed)
	}
	// What is not of this waterfall changes nothing.
	for _, other := range []*record.Timeline{nil, {Engine: "low", Workload: "hello", Metric: startup.ID}, {Engine: "top", Workload: "python", Metric: startup.ID}, {Engine: "top", Workload: "hello", Metric: "whole"}} {
		w := made()
		w.Observe(other)
		if w.Timeline != nil || slices.ContainsFunc(w.Steps, func(s Step) bool { return s.Observed != nil || s.Unfollowed != "" }) {
			t.Errorf("%+v is taken for this waterfall's", other)
		}
	}
}
