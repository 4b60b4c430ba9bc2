// Package bisection judges one commit between a good and a bad build, for git bisect.
//
// It is opinionated: a commit is measured with both builds in the same blocks, and what
// is decided is on which side of the middle between them it lies. What can't be decided
// is said to be so.
//
// Why it is so: docs/decisions/builds.md.
package bisection

import (
	"math"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// Verdict is what came of a commit.
type Verdict string

// What can come of it.
const (
	AsGood  Verdict = "good"    // it lies on the good build's side of the middle
	AsBad   Verdict = "bad"     // or on the bad one's
	Unclear Verdict = "unclear" // it can't be told with the blocks that there were
	Unseen  Verdict = "unseen"  // the bad build is not shown to be worse than the good one
	Skipped Verdict = "skipped" // it can't be built or does not run
)

// Looks are the numbers of blocks after which a commit is looked at. It is looked at
// once more when its time is up.
var Looks = []int{12, 24, 48, 96, 192, 384, 768}

// MostBlocks is how many blocks a commit can take.
var MostBlocks = Looks[len(Looks)-1]

// level is that of the two-sided interval of which one end decides, at each look, so
// that all looks together are wrong with at most a chance of alpha.
func level(alpha float64) float64 { return 1 - 2*alpha/float64(len(Looks)+1) }

// Values are what was measured, by block; NaN where there is none. All are of a metric
// that is above 0.
type Values struct {
	Good, Bad, Commit []float64
	// Higher: more of the metric is better.
	Higher bool
}

// Finding is what the values say.
type Finding struct {
	Verdict Verdict
	// Blocks are how many have a value of all.
	Blocks int
	// Ends is the bad build's value over the good one's, with its 95 % interval, and
	// Change the commit's.
	Ends, Change *sample.Estimate
	// Bytes are the sizes of the programs, where they decide. Then there are no blocks,
	// and the ratios have no intervals.
	Bytes *Sizes
}

// Look decides by the values so far with at most a chance of alpha of a wrong decision,
// at all looks together: by values of the same block, on logarithms, and only where
// these blocks tell the two builds apart themselves. Ratios and intervals are told where
// it has decided or is the last.
func Look(alpha float64, v Values, last bool) Finding {
	f := Finding{Verdict: Unclear}
	low, high := v.both()
	d := make([]float64, len(low))
	for i := range d {
		d[i] = (low[i] + high[i]) / 2
	}
	f.Blocks = len(d)
	_, apart, seen := stats.PseudoMedian(v.logs(v.Bad, v.Good), 1-sample.Alpha)
	if !seen || apart.Lo <= 0 {
		f.Verdict = Unseen
	} else if _, in, ok := stats.PseudoMedian(d, level(alpha)); ok && in.Lo > 0 {
		f.Verdict = AsBad
	} else if ok && in.Hi < 0 {
		f.Verdict = AsGood
	}
	if last || f.Decided() {
		f.Ends, f.Change = v.estimate(v.logs(v.Bad, v.Good)), v.estimate(v.logs(v.Commit, v.Good))
	}
	return f
}

// Decided says that more blocks are not needed.
func (f Finding) Decided() bool { return f.Verdict != Unclear && f.Verdict != Unseen }

// sign turns logarithms so that more is worse.
func (v *Values) sign() float64 {
	if v.Higher {
		return -1
	}
	return 1
}

// logs is the log of a over b by block, more being worse.
func (v *Values) logs(a, b []float64) []float64 {
	d, _, _, ok := sample.LogRatios(a, b)
	if !ok {
		return nil
	}
	for i := range d {
		d[i] *= v.sign()
	}
	return d
}

// both are the commit's logs over the good and over the bad build, of the blocks that
// have all three.
func (v *Values) both() (low, high []float64) {
	n := min(len(v.Good), len(v.Bad), len(v.Commit))
	whole := Values{Higher: v.Higher}
	for i := range n {
		if !math.IsNaN(v.Good[i] + v.Bad[i] + v.Commit[i]) {
			whole.Good, whole.Bad, whole.Commit = append(whole.Good, v.Good[i]), append(whole.Bad, v.Bad[i]), append(whole.Commit, v.Commit[i])
		}
	}
	return whole.logs(whole.Commit, whole.Good), whole.logs(whole.Commit, whole.Bad)
}

// estimate is the ratio of such logs as it was measured, with its 95 % interval.
func (v *Values) estimate(d []float64) *sample.Estimate {
	if len(d) == 0 {
		return nil
	}
	center, in, _, ok := sample.Sample{X: d, Paired: true}.Estimate(1 - sample.Alpha)
	if v.Higher {
		center, in = -center, stats.Interval{Lo: -in.Hi, Hi: -in.Lo}
	}
	return sample.NewEstimate(math.Exp(center), stats.Interval{Lo: math.Exp(in.Lo), Hi: math.Exp(in.Hi)}, ok)
}
