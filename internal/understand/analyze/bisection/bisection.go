// Package bisection finds, among the commits between a good and a bad end, the one
// that made something worse. It asks which commit to measure next, is told what came
// of it, and measures nothing itself.
//
// It is opinionated: a commit is measured with both ends in the same blocks, and what
// is decided is on which side of the middle between them it lies. The chance of any
// wrong decision on the way is bounded. What can't be measured is passed over, and what
// can't be decided is said to be so.
//
// Why it is so: docs/decisions/builds.md.
package bisection

import (
	"math"
	"math/bits"
)

// Kind is what a question asks.
type Kind string

// What can be asked.
const (
	// Ends: is the bad end worse than the good one?
	Ends Kind = "ends"
	// Candidate: is a commit like the good end, or like the bad one?
	Candidate Kind = "candidate"
	// Pair: by how much is a commit worse than the one before?
	Pair Kind = "pair"
)

// Question is what is to be measured next.
type Question struct {
	Kind Kind
	// Commit is which, by its index in the range.
	Commit int
	// Before is the commit that a pair's is held against: GoodEnd for the good end.
	Before int
	// Test decides.
	Test Test
}

// GoodEnd stands for the good end, which is no commit of the range.
const GoodEnd = -1

// Verdict is what came of a question.
type Verdict string

// What can come of it.
const (
	Worse   Verdict = "worse"   // the bad end, or the later one of a pair
	Better  Verdict = "better"  // likewise
	AsGood  Verdict = "good"    // a candidate lies on the good end's side of the middle
	AsBad   Verdict = "bad"     // or on the bad one's
	Unclear Verdict = "unclear" // it can't be told with the blocks that there were
	Unseen  Verdict = "unseen"  // the ends themselves can't be told apart any more
	Skipped Verdict = "skipped" // it can't be built or does not run
)

// Search is a bisection under way.
type Search struct {
	r     *Range
	total float64 // the chance of a wrong decision that there was
	alpha float64 // of it, what has not been spent

	known   map[int]Verdict // of candidates
	set     bitset          // the commits of which one must be the first that is worse
	bad     int             // the earliest known to be bad
	misses  int             // skips since the last decision
	ends    *Finding
	unclear int // the candidate that could not be decided, or -1
	pair    *Finding
	pairs   int // how many pairs were asked for
	unseen  bool
}

// New begins a search in which no commit is named wrongly but with a chance of alpha.
func New(r *Range, alpha float64) *Search {
	s := &Search{r: r, total: alpha, alpha: alpha, known: map[int]Verdict{}, set: r.all(), bad: len(r.Parents) - 1, unclear: -1}
	return s
}

// Next is what to measure; false where nothing is left to ask.
func (s *Search) Next() (Question, bool) {
	switch {
	case s.unseen:
		return Question{}, false
	case s.ends == nil:
		return Question{Kind: Ends, Test: Test{Alpha: s.total / float64(1+s.Steps())}}, true
	case s.ends.Verdict != Worse:
		return Question{}, false
	case s.unclear >= 0:
		return Question{}, false
	}
	if c, worst, ok := s.choose(); ok {
		steps := 1 + bits.Len(uint(worst)) // this one, and ⌈log₂(worst + 1)⌉ after it
		return Question{Kind: Candidate, Commit: c, Test: Test{Alpha: s.alpha / float64(steps), Least: s.least()}}, true
	}
	if s.pair == nil && s.pairs == 0 {
		return Question{Kind: Pair, Commit: s.bad, Before: s.before(), Test: Test{Alpha: s.total}}, true
	}
	return Question{}, false
}

// Answer takes what came of a question that Next has asked.
func (s *Search) Answer(q Question, f Finding) {
	if f.Verdict == Unseen {
		s.unseen = true
		return
	}
	switch q.Kind {
	case Ends:
		s.ends = &f
		s.alpha -= q.Test.Alpha
	case Pair:
		s.pairs++
		if f.Verdict != Skipped {
			s.pair = &f
		}
	case Candidate:
		s.known[q.Commit] = f.Verdict
		if f.Verdict == Skipped {
			s.misses++
			return
		}
		s.misses = 0
		if f.Blocks > 0 { // else it is a program that was decided before
			s.alpha -= q.Test.Alpha
		}
		switch f.Verdict {
		case AsBad:
			s.bad = q.Commit
			s.set = s.set.and(s.r.ancestors(q.Commit))
		case AsGood:
			s.set = s.set.without(s.r.ancestors(q.Commit))
		default:
			s.unclear = q.Commit
		}
	}
}

// least is half of what the ends differed by at the beginning.
func (s *Search) least() float64 {
	if s.ends == nil || s.ends.Ends == nil {
		return 0
	}
	return math.Abs(math.Log(s.ends.Ends.Value)) / 2
}

// Steps is how many further decisions the search takes, if nothing is skipped.
func (s *Search) Steps() int { return bits.Len(uint(s.testable(s.set))) }

// testable is how many commits of a set can still be measured.
func (s *Search) testable(set bitset) int {
	n := 0
	for c := range set.each() {
		if c != s.bad && s.known[c] == "" {
			n++
		}
	}
	return n
}

// Between are the last commit known to be good, or GoodEnd, and the first known to be
// bad.
func (s *Search) Between() (good, bad int) { return s.before(), s.bad }

// before is the last commit known to be good that the earliest bad one comes after: of
// several the one with most behind it.
func (s *Search) before() int {
	best, most := GoodEnd, 0
	behind := s.r.ancestors(s.bad)
	for c, v := range s.known {
		if n := s.r.ancestors(c).count(); v == AsGood && behind.has(c) && (n > most || n == most && c > best) {
			best, most = c, n
		}
	}
	return best
}
