package findings

import (
	"fmt"
	"slices"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// split tells the pairs that measure what the claim's study measured from those
// of another program, mechanism or topology. The latter neither support nor
// contradict the claim. used are the stand-ins that occur.
func split(runs []*analyze.Result, c *record.Claim, pairs []pair) (own, others []pair, used []record.StandIn) {
	for _, p := range pairs {
		at := slices.IndexFunc(c.StandIns, func(s record.StandIn) bool { return p.has(runs, &s) })
		if at < 0 {
			own = append(own, p)
			continue
		}
		others = append(others, p)
		used = alsoStandIn(used, &c.StandIns[at])
	}
	return own, others, used
}

// differing are what else the paper had otherwise than the pairs that a verdict
// rests on.
func differing(runs []*analyze.Result, c *record.Claim, own []pair) []record.StandIn {
	var out []record.StandIn
	for i := range c.Differs {
		if s := &c.Differs[i]; slices.ContainsFunc(own, func(p pair) bool { return p.has(runs, s) }) {
			out = alsoStandIn(out, s)
		}
	}
	return out
}

// alsoStandIn adds one that is not in the list.
func alsoStandIn(list []record.StandIn, s *record.StandIn) []record.StandIn {
	if slices.ContainsFunc(list, func(o record.StandIn) bool { return o.Paper == s.Paper && o.Here == s.Here }) {
		return list
	}
	return append(list, *s)
}

// has says whether either side of a pair is of what stands in.
func (p *pair) has(runs []*analyze.Result, s *record.StandIn) bool {
	return stands(runs, s, p, &p.A) || p.B != nil && stands(runs, s, p, p.B)
}

// stands says whether a side of a pair is of what stands in.
func stands(runs []*analyze.Result, s *record.StandIn, p *pair, side *analyze.ClaimSide) bool {
	if len(s.Metrics) > 0 && !slices.Contains(s.Metrics, side.Metric) {
		return false
	}
	for _, r := range runs {
		if r.Run.ID != p.Run {
			continue
		}
		e := r.Environment(side.Env)
		if s.Of != nil && (e == nil || !matchesEnv(s.Of, e)) {
			return false
		}
		if e != nil && strings.EqualFold(e.Facts["program"], s.Paper) {
			return false // an adapter of two programs ran the paper's own
		}
		if len(s.Workload.Names) == 0 {
			return true
		}
		for i := range r.Workloads {
			if w := &r.Workloads[i]; w.ID == side.Workload {
				return matchesWork(&s.Workload, w.Group(), w.ID, w.Params)
			}
		}
	}
	return false
}

// substitute is what the pairs of another program, mechanism or topology come
// to by themselves.
func substitute(pairs []pair, used []record.StandIn) *analyze.Substitute {
	if len(pairs) == 0 {
		return nil
	}
	out := &analyze.Substitute{StandIns: used, Test: judgePairs(pairs)}
	out.Verdict, out.Decides = verdictOf(pairs)
	out.Pairs = claimPairs(pairs)
	of := analyze.Finding{Verdict: out.Verdict, Decides: out.Decides, Pairs: out.Pairs}
	out.Reason = reasonOf(&of)
	return out
}

// lacksOfStandIns are what a claim needs in place of what was measured.
func lacksOfStandIns(used []record.StandIn) []analyze.ClaimLack {
	var out []analyze.ClaimLack
	for _, s := range used {
		out = append(out, analyze.ClaimLack{
			What:   s.Paper,
			Reason: fmt.Sprintf("another %s here, %s: %s", s.Aspect, s.Here, strings.TrimSuffix(s.Why, ".")),
		})
	}
	return out
}

// neededBy says what a claim needs of which nothing but stand-ins were measured.
func neededBy(s *analyze.Substitute) string {
	need := lists.Map(s.StandIns, func(x record.StandIn) string {
		return fmt.Sprintf("%s (here another %s: %s)", x.Paper, x.Aspect, x.Here)
	})
	return fmt.Sprintf("Needs %s. By what stands in, it would be %s: %s", strings.Join(need, "; "), s.Verdict, s.Reason)
}
