package timeline

import (
	"cmp"
	"slices"

	"plimsoll/internal/common/lists"
)

// Comparison sets two explanations beside each other.
type Comparison struct {
	A    *Explanation `json:"a"`
	B    *Explanation `json:"b"`
	Tree *Pair        `json:"tree"`
	// Rate is set where B is the same as A, several at once.
	Rate *Rate `json:"rate,omitempty"`
}

// Rate is what several starts at once do to each other.
type Rate struct {
	// AtOnce began together. Alone and Together are starts a second: of one after the
	// other, and of all at once.
	AtOnce   int     `json:"at_once"`
	Alone    float64 `json:"alone_per_second"`
	Together float64 `json:"together_per_second"`
	// Growth is what takes longer in company, the most first: causes, over all programs
	// that they are of. What the processors are short of is among them.
	Growth []Pair `json:"growth"`
}

// Grown is all that takes longer in company, ns, whatever takes less.
func (r *Rate) Grown() (all int64) {
	for _, p := range r.Growth {
		all += p.More()
	}
	return all
}

// RateOf says what grows from A, one alone, to B, several at once. All has what passed
// in each round until the last of them had ended, ns.
func (c *Comparison) RateOf(atOnce int, all []int64) {
	whole, _ := median(lists.Map(all, func(ns int64) float64 { return float64(ns) }))
	c.Rate = &Rate{AtOnce: atOnce, Alone: 1e9 / c.A.NS, Together: float64(atOnce) * 1e9 / whole}
	seen := map[string]*Pair{}
	var walk func(p *Pair)
	walk = func(p *Pair) {
		if len(p.Steps) == 0 {
			name := overall(p.Name)
			x := seen[name]
			if x == nil {
				x = &Pair{Name: name, Cause: p.Cause}
				seen[name] = x
			}
			x.A, x.B = x.A+p.A, x.B+p.B
		}
		for _, s := range p.Steps {
			walk(s)
		}
	}
	walk(c.Tree)
	for _, x := range seen {
		if x.More() > 0 {
			c.Rate.Growth = append(c.Rate.Growth, *x)
		}
	}
	slices.SortFunc(c.Rate.Growth, func(x, y Pair) int {
		return cmp.Or(cmp.Compare(y.More(), x.More()), cmp.Compare(x.Name, y.Name))
	})
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
