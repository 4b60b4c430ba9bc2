package findings

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/sample"
)

// judgePairs estimates each pair, corrects the family and gives verdicts. It
// gives the name of the test.
//
// To support a claim all of its pairs must lie inside, which needs no
// correction (an intersection-union test, Berger 1982). One pair contradicts
// it: so the p that a pair lies in the range all the same are corrected by
// Holm, as those of a gate.
func judgePairs(pairs []pair) string {
	family, alpha := make([]sample.Sample, len(pairs)), sample.Alpha
	for i := range pairs {
		family[i], alpha = pairs[i].sample, min(alpha, pairs[i].alpha())
	}
	by := sample.TestOf(family, sample.MinT, alpha)
	p := lists.Map(pairs, func(x pair) float64 { return x.inside(by) })
	holm := stats.Holm(p)
	tested := false
	for i := range pairs {
		if !math.IsNaN(p[i]) {
			pairs[i].Holm, tested = &holm[i], true
		}
		pairs[i].judge()
	}
	if !tested {
		return ""
	}
	return sample.TestName(true, by.Ranks)
}

// inside is the one-sided p of the nearest value in the range, 1 where the
// estimate itself lies there, NaN where there are too few blocks.
func (p *pair) inside(by sample.Test) float64 {
	if p.counted != nil {
		return p.counted.inside(p.bounds)
	}
	if p.sample.Blocks() < sample.MinT {
		return math.NaN()
	}
	center, _, _, _ := p.sample.Estimate(stats.Level)
	edge, outside := p.bounds.beyond(center)
	switch {
	case !outside:
		return 1
	case p.fixed:
		return 0
	}
	return p.sample.P(edge, by) / 2
}

// judge gives one pair its verdict.
func (p *pair) judge() {
	p.Verdict, p.Blocks = analyze.ClaimInconclusive, p.sample.Blocks()
	if p.counted != nil {
		p.judgeCounted()
		return
	}
	if p.Blocks == 0 {
		p.Reason = cmp.Or(p.Reason, "no block has a value")
		return
	}
	center, in, method, ok := p.sample.Estimate(1 - p.alpha())
	p.Estimate, p.Method = &sample.Estimate{Value: p.bounds.back(center)}, method
	lo, hi := p.bounds.back(in.Lo), p.bounds.back(in.Hi)
	if !ok || math.IsInf(hi, 0) || math.IsNaN(lo) {
		p.Reason, p.open = fmt.Sprintf("too few blocks for an interval (%d): run at least %d", p.Blocks, p.least()), true
		return
	}
	p.Estimate.Lo, p.Estimate.Hi = &lo, &hi
	p.clear = min(p.bounds.distance(in.Lo), p.bounds.distance(in.Hi))
	if p.B != nil && p.Unit != "" && center != 0 { // a difference's distance is in the metric's unit
		p.clear /= math.Abs(center)
	}
	if p.decide(in) {
		p.within(center, in)
		p.BlocksNeeded = blocksFor(center, in, p.bounds, p.Blocks)
	}
}

// least is the number of blocks from which there is an interval by ranks.
func (p *pair) least() int {
	n := sample.MinRank
	for stats.SignedRankFloor(n) > p.alpha() {
		n++
	}
	return n
}

// decide holds the interval against the range, on the sample's own scale, where
// the bounds were not rounded. It says whether more blocks would tell.
func (p *pair) decide(in stats.Interval) (open bool) {
	switch {
	case p.bounds.Contains(in.Lo, in.Hi):
		p.Verdict, p.Reason = analyze.ClaimSupported, "the whole interval lies in "+p.Range
	case !p.bounds.Apart(in.Lo, in.Hi):
		p.Reason, p.open, p.crosses = "part of the interval is not "+p.Range, true, true
		return true
	case p.Holm != nil && *p.Holm < p.alpha()/2:
		p.Verdict, p.Reason = analyze.ClaimContradicted, "the whole interval lies outside "+p.Range
	default:
		p.Reason, p.open = "the interval lies outside "+p.Range+", but among so many pairs that may be chance", true
	}
	return false
}

// blocksFor is about how many blocks would take the interval off the bound: its
// half-width falls with the square root of their number.
func blocksFor(center float64, i stats.Interval, b bounds, n int) int {
	needed := math.Ceil(float64(n) * math.Pow(i.Width()/2/b.distance(center), 2))
	if !(needed <= 10_000) {
		return 0
	}
	return max(int(needed), n+1)
}

// verdictOf is that of all pairs together, and the pair that it hangs on.
func verdictOf(pairs []pair) (analyze.ClaimVerdict, *analyze.ClaimPair) {
	for _, v := range []analyze.ClaimVerdict{analyze.ClaimContradicted, analyze.ClaimInconclusive, analyze.ClaimSupported} {
		var of *pair
		for i := range pairs {
			p := &pairs[i]
			if p.Verdict != v {
				continue
			}
			if of == nil || v == analyze.ClaimContradicted && p.clear > of.clear || v == analyze.ClaimSupported && p.clear < of.clear || v == analyze.ClaimInconclusive && !of.hasInterval() && p.hasInterval() {
				of = p
			}
		}
		if of != nil {
			one := of.ClaimPair
			return v, &one
		}
	}
	return analyze.ClaimNotTested, nil
}

func (p *pair) hasInterval() bool { return p.Estimate != nil && p.Estimate.Lo != nil }

// reasonOf says what a verdict rests on.
func reasonOf(f *analyze.Finding) string {
	n := lists.Count(f.Pairs, func(p analyze.ClaimPair) bool { return p.Verdict == f.Verdict })
	of := func(verb, verbs string) string {
		if len(f.Pairs) == 1 {
			return "The only pair " + verb
		}
		if n == 1 {
			return fmt.Sprintf("1 of %d pairs %s", len(f.Pairs), verb)
		}
		return fmt.Sprintf("%d of %d pairs %s", n, len(f.Pairs), verbs)
	}
	switch f.Verdict {
	case analyze.ClaimSupported:
		if len(f.Pairs) == 1 {
			return fmt.Sprintf("It is so for %s.", f.Decides.Title())
		}
		if len(f.Pairs) == 2 {
			return fmt.Sprintf("It is so in both pairs, less clearly for %s.", f.Decides.Title())
		}
		return fmt.Sprintf("It is so in all %d pairs, least clearly for %s.", len(f.Pairs), f.Decides.Title())
	case analyze.ClaimContradicted:
		lead := ", most clearly "
		if n == 1 {
			lead = ": "
		}
		return fmt.Sprintf("%s%s%s is not %s.", of("contradicts it", "contradict it"), lead, f.Decides.Title(), f.Decides.Range)
	case analyze.ClaimInconclusive:
		lead := of("does not decide it", "do not decide it")
		if n == len(f.Pairs) && n > 1 {
			lead = fmt.Sprintf("None of the %d pairs decides it", n)
		}
		return fmt.Sprintf("%s: %s (%s).", lead, f.Decides.Reason, f.Decides.Title())
	}
	var why []string
	for _, l := range f.Without {
		why = analyze.Also(why, l.What+": "+l.Brief())
	}
	if len(why) == 0 {
		return "Nothing that it compares was measured."
	}
	more := ""
	if len(why) > 3 {
		why, more = why[:3], fmt.Sprintf("; and %d more", len(why)-3)
	}
	return "There is no pair: " + strings.Join(why, "; ") + more + "."
}
