package bisection

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/understand/analyze/sample"
)

// Looks are the numbers of blocks after which a question is looked at. It is looked at
// once more when its time is up.
var Looks = []int{12, 24, 48, 96, 192, 384, 768}

// MostBlocks is how many blocks a question can take.
var MostBlocks = Looks[len(Looks)-1]

// Test decides a question with at most this chance of a wrong decision, at all its
// looks together.
type Test struct {
	Alpha float64
	// Least is the log ratio of the ends under which they no longer count as seen.
	Least float64
}

// level is that of the two-sided interval of which one end decides, at each look.
func (t Test) level() float64 { return 1 - 2*t.Alpha/float64(len(Looks)+1) }

// Values are what was measured, by block; NaN where there is none. All are of a metric
// that is above 0.
type Values struct {
	Good, Bad []float64
	// Commit is the candidate's, or a pair's later one's; Before the earlier one's.
	Commit, Before []float64
	// Higher: more of the metric is better.
	Higher bool
}

// Finding is what the values say.
type Finding struct {
	Verdict Verdict `json:"verdict"`
	// Blocks are how many have a value of all.
	Blocks int `json:"blocks"`
	// Ends is the bad end's value over the good one's, with its 95 % interval.
	Ends *sample.Estimate `json:"ends,omitempty"`
	// Change is the commit's value over the good end's; of a pair, over the earlier
	// one's.
	Change *sample.Estimate `json:"change,omitempty"`
	// Bytes are the sizes of the programs, where they decide. Then there are no blocks,
	// and the ratios have no intervals.
	Bytes *Sizes `json:"bytes,omitempty"`
	// Finds is the difference, as a fraction, that would have been found.
	Finds *float64 `json:"finds,omitempty"`
	// More: a pair's change is not all of the ends' difference.
	More bool `json:"more,omitempty"`
}

// Look decides by the values so far. Sizes and intervals are told where it has decided
// or is the last.
func (t Test) Look(k Kind, v Values, last bool) Finding {
	var f Finding
	switch k {
	case Pair:
		return t.pair(v)
	case Ends:
		f = t.ends(v)
	default:
		f = t.candidate(v)
	}
	if last || f.Decided(k) {
		f.Ends = v.estimate(v.logs(v.Bad, v.Good))
		if k == Candidate {
			f.Change = v.estimate(v.logs(v.Commit, v.Good))
		}
	}
	return f
}

// Decided says that more blocks are not needed.
func (f Finding) Decided(k Kind) bool {
	if k == Pair {
		return f.Exact()
	}
	return f.Verdict != Unclear && f.Verdict != Unseen
}

// ends decides whether the bad end is worse than the good one.
func (t Test) ends(v Values) Finding {
	d := v.logs(v.Bad, v.Good)
	f := Finding{Verdict: Unclear, Blocks: len(d)}
	_, in, ok := stats.PseudoMedian(d, t.level())
	switch {
	case ok && in.Lo > 0:
		f.Verdict = Worse
	case ok && in.Hi < 0:
		f.Verdict = Better
	case ok:
		finds := t.finds(in)
		f.Finds = &finds
	}
	return f
}

// finds is the difference, as a fraction, that nine of ten questions would find whose
// interval is as wide as this one.
func (t Test) finds(in stats.Interval) float64 {
	far := distuv.UnitNormal.Quantile(1 - (1-t.level())/2)
	return math.Expm1(in.Width() / 2 * (1 + distuv.UnitNormal.Quantile(0.9)/far))
}

// candidate decides on which side of the middle between the ends a commit lies, on
// logarithms: by values of the same block, and only where these blocks tell the ends
// apart themselves.
func (t Test) candidate(v Values) Finding {
	f := Finding{Verdict: Unclear}
	low, high := v.both()
	d := make([]float64, len(low))
	for i := range d {
		d[i] = (low[i] + high[i]) / 2
	}
	f.Blocks = len(d)
	_, apart, seen := stats.PseudoMedian(v.logs(v.Bad, v.Good), 1-sample.Alpha)
	if !seen || apart.Lo <= 0 || apart.Hi < t.Least {
		f.Verdict = Unseen
		return f
	}
	_, in, ok := stats.PseudoMedian(d, t.level())
	switch {
	case ok && in.Lo > 0:
		f.Verdict = AsBad
	case ok && in.Hi < 0:
		f.Verdict = AsGood
	}
	return f
}

// pair says by how much a commit is worse than the one before, and whether that is all
// of the ends' difference.
func (t Test) pair(v Values) Finding {
	d := v.logs(v.Commit, v.Before)
	f := Finding{Verdict: Unclear, Blocks: len(d), Ends: v.estimate(v.logs(v.Bad, v.Good)), Change: v.estimate(d)}
	_, in, ok := stats.PseudoMedian(d, 1-sample.Alpha)
	switch {
	case ok && in.Lo > 0:
		f.Verdict = Worse
	case ok && in.Hi < 0:
		f.Verdict = Better
	}
	rest := v.rest()
	_, in, ok = stats.PseudoMedian(rest, 1-sample.Alpha)
	f.More = ok && in.Lo > 0
	return f
}

// Exact says whether a pair's change is known well enough: to a fifth of itself, or to
// half a per cent.
func (f Finding) Exact() bool {
	c := f.Change
	if c == nil || c.Lo == nil || c.Hi == nil {
		return false
	}
	half := math.Log(*c.Hi / *c.Lo) / 2
	return half <= max(0.005, math.Abs(math.Log(c.Value))/5)
}

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

// both are the commit's logs over the good and over the bad end, of the blocks that
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

// rest is by how much the ends differ more than a pair does, by block.
func (v *Values) rest() []float64 {
	var out []float64
	for i := range min(len(v.Good), len(v.Bad), len(v.Commit), len(v.Before)) {
		if d := math.Log(v.Bad[i]/v.Good[i]) - math.Log(v.Commit[i]/v.Before[i]); !math.IsNaN(d) && !math.IsInf(d, 0) {
			out = append(out, v.sign()*d)
		}
	}
	return slices.Clip(out)
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
