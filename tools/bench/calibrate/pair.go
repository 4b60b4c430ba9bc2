package calibrate

import (
	"math"
	"math/rand/v2"

	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/compare"
	"plimsoll/internal/understand/analyze/evaluate"
)

// earlierRuns is how many earlier runs tell of the scatter between runs.
const earlierRuns = 8

// own is by how much one environment's time differs between two runs by itself,
// as a standard deviation on the logarithm, where the scatter between runs is
// tried.
const own = 0.03

// othersBeside is how many threads of others have work for each processor, and
// mostLost how much of what evenly shared processors would cost it that costs an
// environment at most: each of each run draws its own share of it.
const othersBeside, mostLost = 1.5, 0.5

// Pair is what compare says of an environment that is the same in two runs, with
// native and floor beside it.
type Pair struct {
	Shape  string `json:"shape"`
	Drift  string `json:"drift"`
	Blocks int    `json:"blocks"`
	// None, Native and Learnt are the intervals with no baseline, divided by
	// native, and with what helps taken out, the machine being the same in both runs.
	None   Tally `json:"none"`
	Native Tally `json:"native"`
	Learnt Tally `json:"learnt"`
	// Changed counts those of Learnt that are said to be better or worse.
	Changed Tally `json:"changed"`
	// Alike is Learnt where the second machine is as a whole faster or slower by
	// 5 %, and AlikeNone is None there.
	Alike     Tally `json:"alike"`
	AlikeNone Tally `json:"alike_none"`
	// Known is Learnt where besides each environment moves by 3 % of its own, and
	// earlier runs tell so; Unknown is it without them.
	Known        Tally `json:"known"`
	Unknown      Tally `json:"unknown"`
	KnownChanged Tally `json:"known_changed"`

	// Busy is Learnt where others are at work beside the second run, and Crowded where
	// they are beside both; each costs each environment something else.
	Busy           Tally `json:"busy"`
	BusyChanged    Tally `json:"busy_changed"`
	Crowded        Tally `json:"crowded"`
	CrowdedChanged Tally `json:"crowded_changed"`

	drift func(*rand.Rand, int) []float64
}

func (p *Pair) tallies() []*Tally {
	return []*Tally{&p.None, &p.Native, &p.Learnt, &p.Changed, &p.Alike, &p.AlikeNone, &p.Known, &p.Unknown, &p.KnownChanged, &p.Busy, &p.BusyChanged, &p.Crowded, &p.CrowdedChanged}
}

func (p *Pair) sample(s *Shape, reps int, r *rand.Rand) error {
	run := func(r *rand.Rand, session, scatter, others float64) (*analyze.Result, error) {
		w := newWorld(s, p.Blocks, 1, 1,
			env{id: "native", baseline: true, effects: []float64{scatter * r.NormFloat64()}},
			env{id: "floor", baseline: true, effects: []float64{math.Log(1.5) + scatter*r.NormFloat64()}},
			env{id: "a", effects: []float64{math.Log(4) + scatter*r.NormFloat64()}})
		w.drift = p.drift
		if w.others = others; others > 0 {
			for i := range w.envs {
				w.envs[i].lost = mostLost * r.Float64()
			}
		}
		reader, _ := w.simulate(r, session*r.NormFloat64())
		return evaluate.Run(reader, evaluate.Options{})
	}
	only := []compare.Filter{{Key: "environment", Values: []string{"a"}}}
	between := func(base, next *analyze.Result, t, changed *Tally, o compare.Options) error {
		o.Filter = only
		c, err := compare.Between(base, next, o)
		if err != nil {
			return err
		}
		t.interval(c.Cells[0].Ratio, 1)
		if v := c.Cells[0].Verdict; changed != nil {
			changed.add(v == compare.Better || v == compare.Worse)
		}
		return nil
	}
	beside := rand.New(rand.NewPCG(97, uint64(p.Blocks)))
	for range reps {
		var runs [3 + 2 + earlierRuns]*analyze.Result
		for i := range runs {
			session, scatter := 0.0, 0.0
			if i >= 2 {
				session = 0.05
			}
			if i >= 3 {
				scatter = own
			}
			var err error
			if runs[i], err = run(r, session, scatter, 0); err != nil {
				return err
			}
			runs[i].Run.ID = string(rune('a' + i))
		}
		earlier := runs[5:]
		for _, x := range []struct {
			a, b       int
			t, changed *Tally
			o          compare.Options
		}{
			{0, 1, &p.None, nil, compare.Options{Against: "none"}},
			{0, 1, &p.Native, nil, compare.Options{Against: "native"}},
			{0, 1, &p.Learnt, &p.Changed, compare.Options{}},
			{0, 2, &p.Alike, nil, compare.Options{}},
			{0, 2, &p.AlikeNone, nil, compare.Options{Against: "none"}},
			{3, 4, &p.Known, &p.KnownChanged, compare.Options{Earlier: earlier}},
			{3, 4, &p.Unknown, nil, compare.Options{}},
		} {
			if err := between(runs[x.a], runs[x.b], x.t, x.changed, x.o); err != nil {
				return err
			}
		}
		var busy [2]*analyze.Result
		for i := range busy {
			var err error
			if busy[i], err = run(beside, 0, 0, othersBeside); err != nil {
				return err
			}
			busy[i].Run.ID = string(rune('y' + i))
		}
		if err := between(runs[0], busy[0], &p.Busy, &p.BusyChanged, compare.Options{}); err != nil {
			return err
		}
		if err := between(busy[0], busy[1], &p.Crowded, &p.CrowdedChanged, compare.Options{}); err != nil {
			return err
		}
	}
	return nil
}
