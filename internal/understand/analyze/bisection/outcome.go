package bisection

// Result is what a search came to.
type Result string

// What it can come to.
const (
	Found        Result = "found"        // one commit
	Among        Result = "among"        // one of several, of which the others can't be measured
	Halves       Result = "halves"       // a commit in the middle lies between the ends: part of the change comes before, part after
	Alike        Result = "alike"        // the ends can't be told apart
	Backwards    Result = "backwards"    // the bad end is the better one
	Blind        Result = "blind"        // the machine no longer sees the ends' difference
	Contradicted Result = "contradicted" // the commit that the steps lead to is no worse than the one before
	Open         Result = "open"         // there is more to measure
)

// Outcome is what a search came to, with what stands behind it.
type Outcome struct {
	Result Result `json:"result"`
	// Commits are those of which one made it worse: of Found it alone, of Halves those
	// up to the middle and the middle.
	Commits []int `json:"commits,omitempty"`
	// Later are, of Halves, those after the middle.
	Later []int `json:"later,omitempty"`
	// Ends is what the first measurement of the ends found.
	Ends *Finding `json:"ends,omitempty"`
	// Pair is the change at the commit against Before, which is GoodEnd for the good
	// end.
	Pair   *Finding `json:"pair,omitempty"`
	Before int      `json:"before"`
	// Untested are commits among those searched that could not be measured.
	Untested []int `json:"untested,omitempty"`
}

// Outcome is what the search has come to so far.
func (s *Search) Outcome() Outcome {
	o := Outcome{Ends: s.ends, Pair: s.pair, Before: s.before()}
	for c := range s.r.all().each() {
		if s.known[c] == Skipped {
			o.Untested = append(o.Untested, c)
		}
	}
	_, more := s.Next()
	switch {
	case s.unseen:
		o.Result = Blind
	case s.ends != nil && s.ends.Verdict == Unclear:
		o.Result = Alike
	case s.ends != nil && s.ends.Verdict == Better:
		o.Result = Backwards
	case s.unclear >= 0:
		o.Result = Halves
		below := s.r.ancestors(s.unclear)
		o.Commits, o.Later = list(s.set.and(below)), list(s.set.without(below))
	case more || s.ends == nil:
		o.Result = Open
		o.Commits = list(s.set)
	default:
		o.Commits = list(s.set)
		o.Result = Found
		if len(o.Commits) > 1 {
			o.Result = Among
		}
		if s.contradicted() {
			o.Result = Contradicted
		}
	}
	return o
}

// contradicted says that the pair's change is known well enough, and is no worsening.
func (s *Search) contradicted() bool {
	if s.pair != nil && s.pair.Bytes != nil { // a size is known to the byte
		return s.pair.Verdict != Worse
	}
	return s.pair != nil && s.pair.Verdict != Worse && s.pair.Change != nil && s.pair.Change.Lo != nil && s.pair.Exact()
}

func list(b bitset) []int {
	var out []int
	for c := range b.each() {
		out = append(out, c)
	}
	return out
}
