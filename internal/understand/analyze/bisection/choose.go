package bisection

import (
	"cmp"
	"slices"
)

// choose is the commit to measure next, and how many more could have to be measured
// after it; false where none is left.
//
// It is the one that parts the rest most evenly, as git bisect has it. Where commits
// were skipped the neighbours are tried, first the nearest and then at doubling
// distance: a broken stretch of history is left in the logarithm of its length.
func (s *Search) choose() (commit, worst int, ok bool) {
	type choice struct{ commit, even int }
	total := s.set.count()
	var all []choice
	for c := range s.set.each() {
		if c == s.bad || s.known[c] != "" {
			continue
		}
		n := s.set.and(s.r.ancestors(c)).count()
		all = append(all, choice{commit: c, even: min(n, total-n)})
	}
	if len(all) == 0 {
		return 0, 0, false
	}
	slices.SortFunc(all, func(a, b choice) int {
		return cmp.Or(cmp.Compare(b.even, a.even), cmp.Compare(a.commit, b.commit))
	})
	at := 0
	if s.misses > 1 {
		at = min(1<<min(s.misses, 20)-2, len(all)/2)
	}
	c := all[at]
	below := s.set.and(s.r.ancestors(c.commit))
	// If it is bad it is the new end, and no more a candidate.
	return c.commit, max(s.testable(below)-1, s.testable(s.set.without(below))), true
}
