package timeline

import "slices"

// Told is the least share of a start that is told of by itself.
const Told = 0.01

// Shorten says of each step by how much less the starts would take without it, in the mean:
// of all but the whole itself, and of what has less than Told of it.
func (x *Explanation) Shorten() {
	least := int64(Told * float64(x.Tree.NS))
	sums := map[*Step]int64{}
	for _, c := range x.used {
		r := c.replay()
		for step, taken := range x.Tree.takings(c, r.pieces) {
			if step.NS >= least {
				sums[step] += r.without(taken)
			}
		}
	}
	for step, sum := range sums {
		step.Shorter = new(min(sum/int64(len(x.used)), step.NS))
	}
}

// takings are what of the way is each step's, but the whole's.
func (s *Step) takings(c *Course, pieces []Piece) map[*Step][]taking {
	all := map[*Step][]taking{}
	for i := range pieces {
		p, at, why := &pieces[i], s, pieces[i].why().Text
		take := func(step *Step, part float64) { all[step] = append(all[step], taking{i, part}) }
		for _, l := range c.chain(p) {
			next := at.find(l.name, false)
			if next == nil {
				break
			}
			at = next
			take(at, 1)
		}
		divided := at.computed > 0 && p.computes()
		for _, b := range at.Steps {
			switch {
			case divided && b.divided > 0:
				take(b, float64(b.divided)/float64(at.computed))
			case !divided && b.Cause && b.Name == why:
				take(b, 1)
			}
		}
	}
	return all
}

// find is a step below, nil where there is none of that name.
func (s *Step) find(name string, cause bool) *Step {
	if i := slices.IndexFunc(s.Steps, func(b *Step) bool { return b.Name == name && b.Cause == cause }); i >= 0 {
		return s.Steps[i]
	}
	return nil
}
