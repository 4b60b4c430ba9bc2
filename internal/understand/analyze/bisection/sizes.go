package bisection

import "plimsoll/internal/understand/analyze/sample"

// Sizes are those of the programs that commits gave, in bytes. They are no matter of
// chance: one look decides.
type Sizes struct {
	Good int64 `json:"good"`
	Bad  int64 `json:"bad"`
	// Commit is the candidate's, or a pair's later one's; Before the earlier one's.
	Commit int64 `json:"commit,omitempty"`
	Before int64 `json:"before,omitempty"`
}

// Look decides by the sizes. A candidate in the very middle between the ends is like
// the bad one.
func (s Sizes) Look(k Kind) Finding {
	f := Finding{Bytes: &s, Ends: over(s.Bad, s.Good)}
	switch k {
	case Ends:
		f.Verdict = grown(s.Bad, s.Good)
	case Pair:
		f.Verdict, f.Change = grown(s.Commit, s.Before), over(s.Commit, s.Before)
		f.More = s.Bad-s.Good > s.Commit-s.Before
	default:
		f.Verdict, f.Change = AsGood, over(s.Commit, s.Good)
		switch {
		case s.Bad <= s.Good:
			f.Verdict = Unseen
		case 2*s.Commit >= s.Good+s.Bad:
			f.Verdict = AsBad
		}
	}
	return f
}

// grown says whether a program is larger than another.
func grown(size, than int64) Verdict {
	switch {
	case size > than:
		return Worse
	case size < than:
		return Better
	}
	return Unclear
}

// over is a size over another, which has no interval.
func over(size, than int64) *sample.Estimate {
	return &sample.Estimate{Value: float64(size) / float64(than)}
}
