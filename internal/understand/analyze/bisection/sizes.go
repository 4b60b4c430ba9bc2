package bisection

import "plimsoll/internal/understand/analyze/sample"

// Sizes are those of the programs, in bytes. They are no matter of chance: one look
// decides.
type Sizes struct{ Good, Bad, Commit int64 }

// Look decides by the sizes. A commit in the very middle is like the bad build.
func (s Sizes) Look() Finding {
	f := Finding{Verdict: AsGood, Bytes: &s, Ends: over(s.Bad, s.Good), Change: over(s.Commit, s.Good)}
	switch {
	case s.Bad <= s.Good:
		f.Verdict = Unseen
	case 2*s.Commit >= s.Good+s.Bad:
		f.Verdict = AsBad
	}
	return f
}

// over is a size over another, which has no interval.
func over(size, than int64) *sample.Estimate {
	return &sample.Estimate{Value: float64(size) / float64(than)}
}
