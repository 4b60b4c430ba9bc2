// Package ablation says what each mechanism of an engine costs, from runs of the
// engine without it.
//
// It is opinionated. A cost is a difference between two environments in the same
// blocks, never between two tables. What is taken away one after the other ends at
// the floor, and what could not be parted further is a step like any other, with a
// name that says so. Each mechanism is also taken away alone: where that gives
// another cost, the two belong together, and that is shown; and what all costs
// predict together for combinations that were held out stands beside what those
// took.
//
// Why it is so: docs/decisions/why.md.
package ablation

import (
	"math"

	"plimsoll/internal/common/lists"
	"plimsoll/internal/common/stats"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/sample"
)

// Waterfall is what an engine's metric is made of. All values are in the metric's
// unit.
type Waterfall struct {
	Engine   string        `json:"engine"`
	Workload string        `json:"workload"`
	Metric   record.Metric `json:"metric"`
	// Blocks is how many blocks have both ends.
	Blocks int `json:"blocks"`
	// Base is with everything, Floor what is left at the end.
	Base  Level `json:"base"`
	Floor Level `json:"floor"`
	// Nothing is the difference of two environments that are both the base.
	Nothing *sample.Estimate `json:"nothing,omitempty"`
	// Whole is what all of it costs, and Rest what the steps do not add up to: each is
	// an estimate of its own.
	Whole *sample.Estimate `json:"whole,omitempty"`
	Rest  float64          `json:"rest"`
	Steps []Step           `json:"steps"`
	// Added are what the engine can also do and does not by itself: Alone is what
	// that costs.
	Added []Step `json:"added,omitempty"`
	// Parts are the same of what the metric is the sum of, where it is one, and of what
	// it is checked by.
	Parts []*Waterfall `json:"parts,omitempty"`
	// HeldOut are combinations from which nothing was estimated.
	HeldOut []HeldOut `json:"held_out,omitempty"`
	// Timeline is how far traced starts say the same, nil where none were asked.
	Timeline *Agreement `json:"timeline,omitempty"`
}

// Level is an environment with its median.
type Level struct {
	Env    string           `json:"env"`
	Median *sample.Estimate `json:"median,omitempty"`
}

// Kind says what a step is.
type Kind string

// The kinds of steps.
const (
	Mechanism Kind = "mechanism" // it is left out, or exchanged
	Engine    Kind = "engine"    // all that an engine does above the one that it calls
	Last      Kind = "last"      // all that is left above the floor
	Bare      Kind = "bare"      // all that is left above no container at all
	Addition  Kind = "addition"  // it is there only where it is asked for
)

// Step is what is taken away.
type Step struct {
	Kind Kind `json:"kind"`
	// Of is the engine from which it is taken away.
	Of        string `json:"of"`
	Mechanism string `json:"mechanism,omitempty"`
	Title     string `json:"title,omitempty"`
	Price     string `json:"price,omitempty"`
	// Chain is what it costs after all steps before it are gone: a time that is longer
	// with it, or a rate that is lower. Share is that as a part of the larger of the
	// two ends, and After what is left.
	Chain *sample.Estimate `json:"chain,omitempty"`
	Share float64          `json:"share,omitempty"`
	After *Level           `json:"after,omitempty"`
	// Alone is what it costs while everything else is there, but for Given, which is
	// then taken away from both.
	Alone *sample.Estimate `json:"alone,omitempty"`
	Given string           `json:"given,omitempty"`
	// Includes are steps before it that were to be taken away and were not measured:
	// the cost in the chain is theirs too.
	Includes []string `json:"includes,omitempty"`
	// Together is how much more it costs in the chain than alone, where that is
	// surely not nothing: it then does a part of its work with one of those before it.
	Together *sample.Estimate `json:"together,omitempty"`
	// Missing says why there is no number.
	Missing string `json:"missing,omitempty"`
	// Observed is what the timeline of traced starts says of it, where it was asked, and
	// Unfollowed why it was not where it was asked of others.
	Observed   *Observed `json:"observed,omitempty"`
	Unfollowed string    `json:"unfollowed,omitempty"`
}

// Column are the values of an environment, by block, NaN where a block has none;
// and why there are none, where that is so.
type Column func(env string) (byBlock []float64, median *sample.Estimate, missing string)

// Of makes the waterfall of an ablation; nil where its base was not measured.
func Of(a *record.Ablation, workload string, metric record.Metric, column Column) *Waterfall {
	m := &maker{a: a, column: column, w: &Waterfall{Engine: a.Engine, Workload: workload, Metric: metric, Base: Level{Env: a.Base}}}
	var why string
	if m.last, m.w.Base.Median, why = column(a.Base); why != "" {
		return nil
	}
	m.again()
	m.base, m.w.Floor = m.last, m.w.Base
	m.level = 1 - (1-stats.Level)/float64(max(1, len(a.Steps)))
	for i := range a.Steps {
		m.step(a.Engine, &a.Steps[i])
	}
	above := a.Engine
	for _, b := range a.Below {
		s := Step{Kind: Engine, Of: above, Mechanism: b.Engine}
		switch b.Engine {
		case "floor":
			s.Kind = Last
		case "native":
			s.Kind = Bare
		}
		if m.goesOn(&s, b.Env) {
			above = b.Engine
		}
		m.w.Steps = append(m.w.Steps, s)
		for k := range b.Steps {
			m.step(b.Engine, &b.Steps[k])
		}
	}
	m.whole()
	for i := range a.Added {
		m.w.Added = append(m.w.Added, m.added(&a.Added[i]))
	}
	for _, h := range a.HeldOut {
		m.w.HeldOut = append(m.w.HeldOut, m.heldOut(h))
	}
	return m.w
}

type maker struct {
	a          *record.Ablation
	column     Column
	w          *Waterfall
	base, last []float64
	level      float64 // of the intervals that decide on Together
	pending    []string
}

// again makes the base the mean, block by block, of all environments that are the
// same, and says what the difference of two of them comes to.
func (m *maker) again() {
	same := [][]float64{m.last}
	for _, env := range m.a.Again {
		if x, _, why := m.column(env); why == "" {
			same = append(same, x)
		}
	}
	if len(same) == 1 {
		return
	}
	m.w.Nothing = estimate(differences(same[0], same[1]), stats.Level)
	mean := make([]float64, len(m.last))
	for b := range mean {
		sum, n := 0.0, 0
		for _, x := range same {
			if b < len(x) && !math.IsNaN(x[b]) {
				sum, n = sum+x[b], n+1
			}
		}
		mean[b] = sum / float64(n) // NaN where no one has a value
	}
	of := m.column
	m.last, m.column = mean, func(env string) ([]float64, *sample.Estimate, string) {
		x, median, why := of(env)
		if env == m.a.Base && why == "" {
			x = mean
		}
		return x, median, why
	}
}

// goesOn takes the chain on to an environment; false where it was not measured.
func (m *maker) goesOn(s *Step, env string) bool {
	if env == "" {
		return false
	}
	next, median, why := m.column(env)
	if why != "" {
		s.Missing = why
		m.pending = append(m.pending, s.Mechanism)
		return false
	}
	if s.Chain = estimate(m.cost(m.last, next), stats.Level); s.Chain == nil {
		s.Missing = "no block has both"
		return false
	}
	s.After = &Level{Env: env, Median: median}
	m.last, m.w.Floor = next, *s.After
	s.Includes, m.pending = m.pending, nil
	return true
}

func (m *maker) step(of string, x *record.AblationStep) {
	s := Step{Kind: Mechanism, Of: of, Mechanism: x.Mechanism, Title: x.Title, Price: x.Price, Given: x.Given, Missing: x.Missing}
	before := m.last
	chained := m.goesOn(&s, x.After)
	if with, without := m.alone(&s, x); with != nil && chained && s.Includes == nil {
		m.together(&s, before, m.last, with, without)
	}
	if s.Alone != nil || s.Chain != nil {
		s.Missing = ""
	}
	m.w.Steps = append(m.w.Steps, s)
}

// alone is what a mechanism costs between the two environments that differ in it and
// in nothing else, whose columns it gives.
func (m *maker) alone(s *Step, x *record.AblationStep) (with, without []float64) {
	if x.With == "" || x.Without == "" {
		return nil, nil
	}
	with, _, why := m.column(x.With)
	if why == "" {
		if without, _, why = m.column(x.Without); why == "" {
			s.Alone = estimate(m.cost(with, without), stats.Level)
			return with, without
		}
	}
	s.Missing = why
	return nil, nil
}

// added is what something costs that the engine does not do by itself.
func (m *maker) added(x *record.AblationStep) Step {
	s := Step{Kind: Addition, Of: m.a.Engine, Mechanism: x.Mechanism, Title: x.Title, Price: x.Price, Missing: x.Missing}
	if with, _ := m.alone(&s, x); with != nil && s.Alone == nil {
		s.Missing = "no block has both"
	}
	return s
}

// together compares a mechanism's cost in the chain with that alone, block by
// block, on a level that holds for all mechanisms at once.
func (m *maker) together(s *Step, before, after, with, without []float64) {
	apart := func(cost func(with, without []float64) []float64) *sample.Estimate {
		return estimate(differences(cost(before, after), cost(with, without)), m.level)
	}
	if e := apart(m.timeCost); e != nil && e.Lo != nil && (*e.Lo > 0 || *e.Hi < 0) {
		s.Together = apart(m.cost)
	}
}

func (m *maker) whole() {
	d := m.cost(m.base, m.last)
	m.w.Blocks = lists.Count(d, func(v float64) bool { return !math.IsNaN(v) })
	if m.w.Whole = estimate(d, stats.Level); m.w.Whole == nil {
		return
	}
	m.w.Rest = m.w.Whole.Value
	top := m.w.Top()
	for i := range m.w.Steps {
		if s := &m.w.Steps[i]; s.Chain != nil {
			m.w.Rest -= s.Chain.Value
			s.Share = s.Chain.Value / top
		}
	}
}

// differences are those of two columns, block by block.
func differences(a, b []float64) []float64 {
	d := make([]float64, min(len(a), len(b)))
	for i := range d {
		d[i] = a[i] - b[i]
	}
	return d
}

// estimate is the middle of differences with its interval: the pseudo-median, and
// for few blocks the mean with Student's interval.
func estimate(d []float64, level float64) *sample.Estimate {
	x := stats.Known(d)
	if len(x) == 0 {
		return nil
	}
	if v, i, ok := stats.PseudoMedian(x, level); ok {
		return sample.NewEstimate(v, i, true)
	}
	v, i, ok := stats.TInterval(x, level)
	return sample.NewEstimate(v, i, ok && len(x) >= sample.MinT)
}
