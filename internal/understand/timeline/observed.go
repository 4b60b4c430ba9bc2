package timeline

import (
	"cmp"
	"slices"
)

// Observed is what two explanations say of one mechanism: A with it and B without.
type Observed struct {
	// With and Without are the times of the two, ns: the means of their trees.
	With    int64 `json:"with_ns"`
	Without int64 `json:"without_ns"`
	// Gone is the time of what is on the way with it and hardly without it, less that of
	// what comes in its place; Else is what other steps take less (more, where
	// negative) without it.
	Gone int64 `json:"gone_ns"`
	Else int64 `json:"else_ns"`
	// Steps are the causes whose time differs the most, summed over the programs that
	// they were of: at most five.
	Steps []Pair `json:"steps,omitempty"`
}

// hardly is the part of its time below which a step counts as gone.
const hardly = 0.1

// Observe reads a comparison as one of a mechanism.
func Observe(c *Comparison) Observed {
	o := Observed{With: c.Tree.A, Without: c.Tree.B}
	seen := map[string]*Pair{}
	var names []string
	var walk func(p *Pair, program string)
	walk = func(p *Pair, program string) {
		if len(p.Steps) > 0 {
			for _, s := range p.Steps {
				name := program
				if !p.Cause && p.Name != "" {
					name = p.Name
				}
				walk(s, name)
			}
			return
		}
		name := p.Name
		if program != "" && program != name {
			name = program + ": " + name
		}
		x := seen[name]
		if x == nil {
			x = &Pair{Name: name, Cause: p.Cause}
			seen[name] = x
			names = append(names, name)
		}
		x.A, x.B = x.A+p.A, x.B+p.B
	}
	walk(c.Tree, "")
	var all []Pair
	for _, n := range names {
		x := *seen[n]
		if float64(min(x.A, x.B)) < hardly*float64(max(x.A, x.B)) {
			o.Gone += x.A - x.B
		} else {
			o.Else += x.A - x.B
		}
		all = append(all, x)
	}
	slices.SortStableFunc(all, func(p, q Pair) int { return cmp.Compare(size(q.More()), size(p.More())) })
	o.Steps = all[:min(5, len(all))]
	return o
}
