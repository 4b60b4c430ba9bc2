package study

import (
	"reflect"
	"slices"

	"plimsoll/internal/record"
)

// differences are the facts of a paper that are told and that may differ here.
// Of a factor there is one for each level that was not the paper's, of the
// engines that have it: which of them a pair has is known from its run.
func (p *paperFile) differences(cat *Catalogue) []record.StandIn {
	if p == nil {
		return nil
	}
	var out []record.StandIn
	add := func(list ...record.StandIn) {
		for _, s := range list {
			same := func(o record.StandIn) bool { o.Why = s.Why; return reflect.DeepEqual(o, s) }
			if !slices.ContainsFunc(out, same) { // two facts may be of two parts
				out = append(out, s)
			}
		}
	}
	for i := range p.Facts {
		f := &p.Facts[i]
		switch {
		case !slices.Contains(told, f.Aspect.Text) || f.Paper.Text == notTold:
		case slices.Contains(cat.Factors, f.From.Text):
			add(f.otherLevels(cat)...)
		case !f.From.At.Given() && f.Here.At.Given():
			add(f.standIn())
		}
	}
	return out
}

// otherLevels are the levels of the fact's factor that the paper had not.
func (f *paperFact) otherLevels(cat *Catalogue) []record.StandIn {
	var out []record.StandIn
	for _, e := range cat.Engines {
		s := f.standIn()
		if of := s.Of[whenEngine]; of != nil && !slices.Contains(of, e.Name) {
			continue
		}
		for _, l := range e.Levels[f.From.Text] {
			if l == defaultLevel || slices.Contains(f.Is.list, l) {
				continue
			}
			at := slices.IndexFunc(out, func(o record.StandIn) bool { return o.Here == l })
			if at < 0 {
				s.Here, s.Of = l, map[string][]string{f.From.Text: {l}}
				out, at = append(out, s), len(out)
			}
			out[at].Of[whenEngine] = append(out[at].Of[whenEngine], e.Name)
		}
	}
	return out
}
