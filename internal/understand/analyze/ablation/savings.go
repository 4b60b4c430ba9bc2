package ablation

import (
	"cmp"
	"slices"

	"plimsoll/internal/common/lists"
)

// Savings are the mechanisms that a user of the engine can do without, at a price,
// and that surely cost something: the most first.
func (w *Waterfall) Savings() []Step {
	out := lists.Filter(w.Steps, func(s Step) bool {
		return s.Kind == Mechanism && s.Of == w.Engine && s.Price != "" && s.Alone != nil && s.Alone.Lo != nil && *s.Alone.Lo > 0
	})
	slices.SortStableFunc(out, func(p, q Step) int { return cmp.Compare(q.Alone.Value, p.Alone.Value) })
	return out
}

// Additions are the mechanisms that the engine can also do, as far as their cost was
// measured with an interval: the dearest first.
func (w *Waterfall) Additions() []Step {
	out := slices.DeleteFunc(slices.Clone(w.Added), func(s Step) bool { return s.Alone == nil || s.Alone.Lo == nil })
	slices.SortStableFunc(out, func(p, q Step) int { return cmp.Compare(q.Alone.Value, p.Alone.Value) })
	return out
}

// least is the smallest share that is worth a word.
const least = 0.05

// Largest are the steps of the chain with the largest costs, three at most, each at
// least 5 % of what all costs; of a running workload only those that surely cost
// something, since most of its time is its own.
func (w *Waterfall) Largest() []Step {
	of := w.Top()
	if w.Running() && w.Whole != nil {
		of = w.Whole.Value
	}
	steps := slices.DeleteFunc(slices.Clone(w.Steps), func(s Step) bool {
		if s.Chain == nil || s.Chain.Value < least*of || s.Chain.Value <= 0 {
			return true
		}
		if s.Chain.Lo == nil { // too few blocks: the numbers of a start stand as they are
			return w.Running()
		}
		return *s.Chain.Lo <= 0
	})
	slices.SortStableFunc(steps, func(p, q Step) int { return cmp.Compare(q.Share, p.Share) })
	return steps[:min(len(steps), 3)]
}

// Name says in a few words what a step takes away.
func (w *Waterfall) Name(s Step) string {
	switch {
	case s.Kind == Engine:
		return s.Of + " itself, above " + s.Mechanism
	case s.Kind == Last:
		return s.Of + " itself, above the floor"
	case s.Kind == Bare:
		return s.Of + " itself, above native"
	case s.Of != w.Engine:
		return s.Of + ": " + s.Mechanism
	}
	return s.Mechanism
}
