package calibrate

import (
	"fmt"
	"strings"
)

// What is demanded of intervals of 95 %, of false alarms, and of a difference
// of 5 % in 20 blocks with a spread of 3 %.
const (
	leastCoverage = 0.94
	mostCoverage  = 0.98 // from mostFrom blocks on
	mostFrom      = 10
	mostAlarms    = 0.05
	leastPower    = 0.90

	// Of two runs with the weights learnt; a machine that moves over many blocks is
	// nothing that the scatter of blocks knows of, and baselines with two humps tell
	// little of it: without any baseline 60 % of such intervals hold the truth.
	leastPair   = 0.93
	leastMoving = 0.90
	leastHumps  = 0.84
	mostHumps   = 0.10 // alarms there
	widest      = 0.2  // more than with no baseline, where that is honest

	leastHosts = 0.93 // of the interval for machines in general
	leastNext  = 0.90 // and of that for one more host, and of the spread's
	// Two humps make the centers of a few blocks scatter more than their intervals
	// say, which is taken for a spread between hosts where that is small.
	leastSpreadHumps = 0.70
)

// judge lists what is not as demanded. A count must be so far off that it would
// come by chance in fewer than one of a thousand cases if the demand held.
func (r *Report) judge() {
	shapes := map[string]*Shape{}
	for _, s := range r.Shapes {
		shapes[s.Name] = s
	}
	miss := func(ok bool, t Tally, format string, args ...any) {
		if !ok {
			r.Misses = append(r.Misses, fmt.Sprintf(format, args...)+fmt.Sprintf(": %.1f %% of %d", 100*t.Rate(), t.N))
		}
	}
	for _, c := range r.Coverage {
		s := shapes[c.Shape]
		for _, q := range []struct {
			name  string
			t     Tally
			wide  bool // no method has an interval that is not too wide
			least float64
		}{
			{"ratio", c.Ratio, s.quantum > 0, s.leastRatio(c.Blocks)},
			{"suite", c.Suite, s.quantum > 0, leastCoverage},
			{"two runs", c.TwoRuns, s.quantum > 0, leastCoverage},
			// The median of one run's blocks is known too well to the formula: drift
			// spreads the values, but evenly. And an interval between two steps of
			// rounded values has one of few coverages.
			{"median", c.Median, s.drift != nil || s.quantum > 0, leastCoverage},
		} {
			miss(q.t.AtLeast(q.least), q.t, "%s, %d blocks of %d: the interval of the %s covers too little", c.Shape, c.Blocks, c.PerBlock, q.name)
			miss(q.wide || c.Blocks < mostFrom || q.t.AtMost(mostCoverage), q.t, "%s, %d blocks of %d: the interval of the %s covers too much", c.Shape, c.Blocks, c.PerBlock, q.name)
		}
		for _, q := range []struct {
			name string
			t    Tally
		}{{"p", c.Same}, {"their mark", c.Marked}, {"two runs", c.Changed}} {
			miss(q.t.AtMost(mostAlarms), q.t, "%s, %d blocks of %d: equal environments differ by %s", c.Shape, c.Blocks, c.PerBlock, q.name)
		}
	}
	for _, p := range r.Pairs {
		where := fmt.Sprintf("%s on %s, two runs of %d blocks", p.Shape, p.Drift, p.Blocks)
		wide := p.Drift != "blocks" || shapes[p.Shape].quantum > 0
		least, alarms := leastPair, mostAlarms
		switch {
		case p.Drift == "walk" && strings.HasPrefix(p.Shape, "two humps"):
			least, alarms = leastHumps, mostHumps
		case p.Drift == "walk" || p.Drift == "spells":
			least = leastMoving
		}
		miss(p.Learnt.AtLeast(least), p.Learnt, "%s: the interval covers too little", where)
		miss(wide || p.Blocks < mostFrom || p.Learnt.AtMost(mostCoverage), p.Learnt, "%s: the interval covers too much", where)
		miss(p.Drift != "blocks" || p.Learnt.Width <= (1+widest)*p.None.Width, p.Learnt, "%s: the interval is %.0f %% wider than with no baseline", where, 100*(p.Learnt.Width/p.None.Width-1))
		miss(p.Changed.AtMost(alarms), p.Changed, "%s: it is said to differ", where)
		miss(p.Known.AtLeast(leastPair), p.Known, "%s: the interval with the scatter between runs covers too little", where)
		for _, q := range []struct {
			t, changed Tally
			when       string
		}{{p.Busy, p.BusyChanged, "with other work next to one of them"}, {p.Crowded, p.CrowdedChanged, "with other work next to both"}} {
			miss(q.t.AtLeast(leastPair), q.t, "%s, %s: the interval covers too little", where, q.when)
			miss(q.changed.AtMost(mostAlarms), q.changed, "%s, %s: it is said to differ", where, q.when)
		}
		miss(p.KnownChanged.AtMost(mostAlarms), p.KnownChanged, "%s: with the scatter between runs it is said to differ", where)
	}
	r.judgeHosts(miss)
	for _, f := range r.Families {
		miss(f.Groups.AtMost(mostAlarms), f.Groups, "%s, %d blocks: %d equal environments are grouped apart", f.Shape, f.Blocks, f.Environments)
		miss(f.Marks.AtMost(mostAlarms), f.Marks, "%s, %d blocks: of %d equal environments some are marked", f.Shape, f.Blocks, f.Environments)
	}
	for _, p := range r.Power {
		if p.Shape == "log-normal" && p.Blocks == 20 {
			miss(p.Found[3].AtLeast(leastPower), p.Found[3], "%s, %d blocks: +5 %% is found too seldom", p.Shape, p.Blocks)
		}
	}
}

// leastRatio is what is demanded of ratios. Three of ten values in a hump far
// off, against a baseline with one hump, is the worst that can be: half of all
// averages of two ratios lie below the gap and half above, and the truth in it.
// Of 6 blocks 12 % have no value of the far hump, and no method could know of it.
func (s *Shape) leastRatio(blocks int) float64 {
	switch {
	case s.like == nil:
		return leastCoverage
	case blocks < mostFrom:
		return 0.86
	}
	return 0.91
}
