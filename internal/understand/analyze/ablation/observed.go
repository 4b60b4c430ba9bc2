package ablation

import (
	"cmp"
	"math"
	"slices"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
)

// Observed is what traced starts say of a mechanism. Where a part of its cost lies in
// steps that stay without it, these are the first of its steps.
type Observed struct {
	record.Observed
	// Verdict is how that goes together with what was found by taking it away.
	Verdict Verdict `json:"verdict"`
	// Inside says that what is gone from the way is more than a fifth off the cost, and the
	// same only as far as the cost's interval goes.
	Inside bool `json:"inside,omitempty"`
}

// Agreement is of how many mechanisms the timeline and the taking away say the same.
type Agreement struct {
	// Starts are how many were traced with each mechanism, and without it.
	Starts int `json:"starts"`
	Same   int `json:"same"`
	// Inside are those of the same that are so only inside the cost's interval.
	Inside    int `json:"inside"`
	Elsewhere int `json:"elsewhere"`
	Scattered int `json:"scattered"`
	Beside    int `json:"beside"`
	Open      int `json:"open"`
	// Unfollowed are those of which no cost is certain.
	Unfollowed int `json:"unfollowed"`
	// Overhead and Lost are what tracing cost, and what it could not record.
	Overhead float64 `json:"overhead,omitempty"`
	Lost     int64   `json:"lost,omitempty"`
}

// Followed is how many mechanisms were followed.
func (a *Agreement) Followed() int { return a.Same + a.Elsewhere + a.Scattered + a.Beside + a.Open }

// Apart is the share of a cost by which the timeline may differ from it.
const Apart = 0.2

// Verdict is how the timeline and the taking away go together.
type Verdict string

const (
	// Same is where what is gone from the way is what was found by taking away.
	Same Verdict = "same"
	// Elsewhere is where the traced starts differ by what was found by taking away, a part
	// of it in steps that are there without the mechanism too.
	Elsewhere Verdict = "elsewhere"
	// Scattered is where they differ by something else, and scatter so much that it may be
	// by what was found by taking away.
	Scattered Verdict = "scattered"
	// Beside is where they surely differ by something else, and so do the starts beside
	// them that were not traced: the mechanism costs another time in those minutes, and
	// tracing has no part in it.
	Beside Verdict = "beside"
	// Open is where the traced starts surely differ by something else, and it can't be
	// told whether only they do.
	Open Verdict = "open"
)

// Observe sets what traced starts say beside what was found by taking away, for each
// mechanism of the engine that was taken away alone; one that was not followed says why.
// What is of another engine, workload or metric, or nil, leaves all as it is.
func (w *Waterfall) Observe(t *record.Timeline) {
	if t == nil || t.Engine != w.Engine || t.Workload != w.Workload || t.Metric != w.Metric.ID {
		return
	}
	w.Timeline = &Agreement{Starts: t.Starts, Overhead: t.Overhead, Lost: t.Lost}
	for _, s := range w.each() {
		o := t.Of(s.Mechanism)
		if o == nil {
			s.Unfollowed = s.uncertain()
			w.Timeline.Unfollowed++
			continue
		}
		s.Observed = &Observed{Observed: *o, Verdict: s.verdict(o)}
		switch s.Observed.Verdict {
		case Same:
			w.Timeline.Same++
			if s.Observed.Inside = !s.within(o.Gone); s.Observed.Inside {
				w.Timeline.Inside++
			}
		case Elsewhere:
			w.Timeline.Elsewhere++
			s.Observed.Steps = slices.Clone(o.Steps)
			slices.SortStableFunc(s.Observed.Steps, func(p, q record.ObservedStep) int {
				return cmp.Compare(map[bool]int{true: 1}[p.Gone()], map[bool]int{true: 1}[q.Gone()])
			})
		case Scattered:
			w.Timeline.Scattered++
		case Beside:
			w.Timeline.Beside++
		case Open:
			w.Timeline.Open++
		}
	}
}

// each gives the mechanisms of the engine itself whose cost alone was measured, and those that
// were added to it; of the others the waterfall says why it was not.
func (w *Waterfall) each() (all []*Step) {
	for i := range w.Steps {
		if s := &w.Steps[i]; s.Kind == Mechanism && s.Of == w.Engine && s.Alone != nil {
			all = append(all, s)
		}
	}
	for i := range w.Added {
		if s := &w.Added[i]; s.Alone != nil {
			all = append(all, s)
		}
	}
	return all
}

// Costly are those of which it is certain that they cost something: the ones that traced
// starts are asked of, the dearest first.
func (w *Waterfall) Costly() []Step {
	return append(w.Savings(), lists.Filter(w.Additions(), func(s Step) bool { return *s.Alone.Lo > 0 })...)
}

// uncertain says why a mechanism was not followed.
func (s *Step) uncertain() string {
	switch e := s.Alone; {
	case e.Lo == nil || e.Hi == nil:
		return "no cost is certain: too few blocks for an interval"
	case *e.Hi < 0:
		return "it costs nothing: starts without it take longer"
	case *e.Lo <= 0:
		return "no cost is certain: the interval holds 0"
	}
	return "the record has no traced starts of it"
}

// verdict says whether the two tell the same of a mechanism.
func (s *Step) verdict(o *record.Observed) Verdict {
	switch {
	case s.near(o.Gone):
		return Same
	case s.near(o.Gone + o.Else):
		return Elsewhere
	case s.allows(o):
		return Scattered
	case s.beside(o):
		return Beside
	}
	return Open
}

// beside says whether the starts that were not traced differ by what the timeline says,
// and surely by something else than what was found by taking away: then that was found in
// other blocks, between other environments, and costs another time there.
func (s *Step) beside(o *record.Observed) bool {
	holds := func(ns int64) bool { return o.PlainLo <= ns && ns <= o.PlainHi }
	return o.PlainLo < o.PlainHi && (holds(o.Gone) || holds(o.Gone+o.Else)) &&
		s.Alone.Lo != nil && s.Alone.Hi != nil && (float64(o.PlainLo) > *s.Alone.Hi || float64(o.PlainHi) < *s.Alone.Lo)
}

// allows says whether what traced starts may differ by and what was found by taking away may
// be the same: the two intervals meet.
func (s *Step) allows(o *record.Observed) bool {
	return o.Lo < o.Hi && s.Alone.Lo != nil && s.Alone.Hi != nil && float64(o.Lo) <= *s.Alone.Hi && *s.Alone.Lo <= float64(o.Hi)
}

// near says whether a time is within a fifth of the cost alone, or within its interval.
func (s *Step) near(ns int64) bool {
	t, cost := float64(ns), s.Alone
	return s.within(ns) || cost.Lo != nil && t >= *cost.Lo && t <= *cost.Hi
}

// within says whether a time is within a fifth of the cost alone.
func (s *Step) within(ns int64) bool {
	return math.Abs(float64(ns)-s.Alone.Value) <= Apart*math.Abs(s.Alone.Value)
}
