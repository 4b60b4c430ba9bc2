package findings

import (
	"fmt"
	"math"
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// Look looks at a run's claims between two blocks. What only decided claims need
// leaves, and so does what a claim needs that further blocks would not decide;
// the run ends when nothing is left.
//
// A claim is given up where its pairs would need more blocks than they can still
// get, though their true values lay further from the bounds than they seem to.
// That changes what is measured, never a verdict.
func Look(r *analyze.Result, blocks int) record.Look {
	l := record.Look{Rule: record.RuleClaims, Blocks: blocks}
	rounds := rounds(r, blocks)
	stays := map[record.CellID]bool{}
	for i := range r.Claims {
		c := &r.Claims[i]
		if len(c.Tests) == 0 {
			continue
		}
		f, pairs := judged([]*analyze.Result{r}, c, nil)
		if f.Verdict == analyze.ClaimNotTested {
			continue
		}
		l.Asked++
		if f.Verdict != analyze.ClaimInconclusive {
			l.Settled++
			continue
		}
		open, why := worth(pairs, rounds)
		l.Claims = append(l.Claims, record.LookClaim{ID: c.ID, Open: len(open) > 0, Why: why})
		for _, p := range open {
			stays[record.CellID{Env: p.A.Env, Workload: p.A.Workload}] = true
			if p.B != nil {
				stays[record.CellID{Env: p.B.Env, Workload: p.B.Workload}] = true
			}
		}
	}
	gone := r.Gone()
	for w := range r.Workloads {
		for i, e := range r.Environments {
			id := record.CellID{Env: e.ID, Workload: r.Workloads[w].ID}
			if !stays[id] && !gone[id] && r.Workloads[w].Counts[i].Trials > 0 {
				l.Cells = append(l.Cells, record.LookCell{Env: id.Env, Workload: id.Workload, Left: true, Why: "no open claim needs it"})
			}
		}
	}
	if len(stays) == 0 {
		l.Ended, l.Why = true, "every claim is decided that more blocks may decide"
		switch {
		case l.Asked == 0:
			l.Why = "no claim can be decided from what it measures"
		case l.Settled == l.Asked:
			l.Why = "every claim is decided"
		}
	}
	return l
}

// rounds is how many times as many blocks a pair can come to have as it has now.
func rounds(r *analyze.Result, blocks int) float64 {
	looks := r.Run.Protocol.ClaimLooks
	if len(looks) == 0 {
		return 1
	}
	return float64(looks[len(looks)-1]) / float64(max(1, blocks))
}

// worth are the pairs of a claim that is not decided for which further blocks are
// worth their time, or else why none is. One pair can contradict the claim; to
// support it, all have to be decided.
func worth(pairs []pair, rounds float64) (open []*pair, why string) {
	var hopeless *pair
	for i := range pairs {
		p := &pairs[i]
		if p.Verdict != analyze.ClaimInconclusive {
			continue
		}
		if p.hopeful(rounds) {
			open = append(open, p)
		} else if hopeless == nil {
			hopeless = p
		}
	}
	if hopeless == nil {
		return open, ""
	}
	open = slices.DeleteFunc(open, func(p *pair) bool { return !p.outside() })
	if len(open) > 0 {
		return open, ""
	}
	why = hopeless.Reason
	if hopeless.BlocksNeeded > 0 {
		why = fmt.Sprintf("by its estimate it would need about %d blocks", hopeless.BlocksNeeded)
	}
	return nil, fmt.Sprintf("%s: %s", hopeless.Title(), why)
}

// hopeful says whether so many times the blocks may decide the pair: an interval's
// half-width falls with the root of their number, and the true value may well lie
// half of it further from the bound than the estimate. The half-width of few
// blocks is itself uncertain.
func (p *pair) hopeful(rounds float64) bool {
	const leeway = 1.5
	if !p.open || !p.crosses {
		return p.open
	}
	return p.half <= math.Sqrt(leeway*rounds)*p.room
}

// within keeps of a pair whose interval crosses a bound how far it reaches, and
// how far its true value may be from the bounds.
func (p *pair) within(center float64, in stats.Interval) {
	p.half = in.Width() / 2
	p.room = p.bounds.distance(center) + p.half/2
	if b := p.bounds; b.Min != nil && b.Max != nil && b.Holds(center) {
		p.room = min(p.room, (*b.Max-*b.Min)/2)
	}
}

// outside says whether the estimate is outside of what the claim states, so that
// the pair may come to contradict it.
func (p *pair) outside() bool {
	if p.counted != nil {
		_, out := p.bounds.beyond(p.counted.percent())
		return out
	}
	if p.Estimate == nil {
		return true // nothing is known yet
	}
	center, _, _, _ := p.sample.Estimate(1 - p.alpha())
	_, out := p.bounds.beyond(center)
	return out
}

// A run that goes on as long as claims are open looks at them more than once.
// Each look may err, so each has its share of the level: then all of them
// together err as seldom as one look does (Bonferroni; Pocock 1977 has bounds
// that are a little closer, for looks at equal distances).

// looksOf is over how many looks a run's level is split.
func looksOf(r *analyze.Result) int { return max(1, len(r.Run.Protocol.ClaimLooks)) }

// alpha is the level of a pair, two-sided.
func (p *pair) alpha() float64 { return sample.Alpha / float64(max(1, p.looks)) }
