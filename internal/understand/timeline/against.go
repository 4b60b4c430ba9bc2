package timeline

import (
	"cmp"
	"slices"
)

// Comparison sets two explanations beside each other.
type Comparison struct {
	A    *Explanation `json:"a"`
	B    *Explanation `json:"b"`
	Tree *Pair        `json:"tree"`
}

// Pair is a step of two explanations: the time in all of each, ns, 0 where it has
// none of this name.
type Pair struct {
	Name  string  `json:"name"`
	A     int64   `json:"a_ns"`
	B     int64   `json:"b_ns"`
	Cause bool    `json:"cause,omitempty"`
	Steps []*Pair `json:"steps,omitempty"`
}

// More is how much longer the step takes in B, ns.
func (p *Pair) More() int64 { return p.B - p.A }

// Against compares two explanations step by step, the largest differences first.
// Steps are the same where the programs that waited and what they waited for have
// the same names.
func Against(a, b *Explanation) *Comparison {
	return &Comparison{A: a, B: b, Tree: pairUp(a.Tree, b.Tree)}
}

// pairUp pairs a step of each; one may be nil.
func pairUp(a, b *Step) *Pair {
	p := &Pair{}
	var below [2][]*Step
	for i, s := range []*Step{a, b} {
		if s == nil {
			continue
		}
		p.Name, p.Cause, below[i] = s.Name, s.Cause, s.Steps
		*[]*int64{&p.A, &p.B}[i] = s.NS
	}
	same := func(s, t *Step) bool { return s.Name == t.Name && s.Cause == t.Cause }
	for _, s := range below[0] {
		var other *Step
		if i := slices.IndexFunc(below[1], func(t *Step) bool { return same(s, t) }); i >= 0 {
			other = below[1][i]
		}
		p.Steps = append(p.Steps, pairUp(s, other))
	}
	for _, t := range below[1] {
		if !slices.ContainsFunc(below[0], func(s *Step) bool { return same(s, t) }) {
			p.Steps = append(p.Steps, pairUp(nil, t))
		}
	}
	slices.SortStableFunc(p.Steps, func(x, y *Pair) int { return cmp.Compare(size(y.More()), size(x.More())) })
	return p
}

func size(ns int64) int64 { return max(ns, -ns) }
