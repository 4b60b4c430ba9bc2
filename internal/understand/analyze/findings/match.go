package findings

import (
	"maps"
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/audit"
)

// matchesLevels says whether an environment has the levels. What was left to the
// engine is "default", and whatever the engine says that it is. Where no
// engine is named, baselines are not meant.
func matchesLevels(sel map[string][]string, engine, baseline string, asked, facts map[string]string) bool {
	if _, named := sel[analyze.ClaimEngine]; !named && baseline != "" {
		return false
	}
	for f, levels := range sel {
		if f == analyze.ClaimEngine {
			if !slices.Contains(levels, engine) {
				return false
			}
			continue
		}
		have := asked[f]
		ok := have != "" && slices.Contains(levels, have)
		if have == "" || have == analyze.ClaimDefault {
			ok = ok || slices.Contains(levels, analyze.ClaimDefault) || facts[f] != "" && slices.Contains(levels, facts[f])
		}
		if !ok {
			return false
		}
	}
	return true
}

func matchesEnv(sel map[string][]string, e *record.Environment) bool {
	return matchesLevels(sel, e.Engine, e.Baseline, e.Levels, e.Facts)
}

// matchesWork says whether a workload is one of the choice.
func matchesWork(c *record.WorkloadChoice, name, id string, params map[string]string) bool {
	if !slices.Contains(c.Names, name) && !slices.Contains(c.Names, id) {
		return false
	}
	for p, levels := range c.Params {
		if !slices.Contains(levels, params[p]) {
			return false
		}
	}
	return true
}

// worksOf lists the workloads of a choice.
func worksOf(r *analyze.Result, c *record.WorkloadChoice) []*analyze.Workload {
	var out []*analyze.Workload
	for i := range r.Workloads {
		w := &r.Workloads[i]
		if matchesWork(c, w.Group(), w.ID, w.Params) {
			out = append(out, w)
		}
	}
	return out
}

// alike says whether two workloads of one name agree in the parameters that
// neither choice names.
func alike(a, b *analyze.Workload, x, y *record.WorkloadChoice) bool {
	if a.Group() != b.Group() {
		return true
	}
	for _, p := range analyze.SortedKeys(a.Params, b.Params) {
		if x.Params[p] == nil && y.Params[p] == nil && a.Params[p] != b.Params[p] {
			return false
		}
	}
	return true
}

// levelOf is what an environment has of a factor or as its engine.
func levelOf(e *record.Environment, factor string) string {
	if factor == analyze.ClaimEngine {
		return e.Engine
	}
	if l := e.Levels[factor]; l != "" && l != analyze.ClaimDefault {
		return audit.Canonical(factor, l)
	}
	return audit.Canonical(factor, e.Facts[factor])
}

// chooser decides which two environments are compared.
type chooser struct {
	test *record.ClaimTest
	a, b []*record.Environment // the two sides
	// levels are what levelsOf gave for them: each pair asks again.
	levels map[asked][]string
}

// asked is a side, and what is asked of it.
type asked struct {
	b              bool // the second one
	engine, factor string
}

// newChooser finds the two sides in a run. With a baseline or without another
// environment the second is empty.
func newChooser(r *analyze.Result, t *record.ClaimTest) *chooser {
	c := &chooser{test: t, levels: map[asked][]string{}}
	for i := range r.Environments {
		e := &r.Environments[i]
		if matchesEnv(t.Of, e) {
			c.a = append(c.a, e)
		}
		if t.To != nil && matchesEnv(t.To, e) || t.Vary != "" && matchesEnv(t.Of, e) {
			c.b = append(c.b, e)
		}
	}
	return c
}

// pairs says whether a and b are compared.
func (c *chooser) pairs(a, b *record.Environment) bool {
	t := c.test
	if a == b {
		return false
	}
	if t.Vary != "" && levelOf(a, t.Vary) == levelOf(b, t.Vary) {
		return false
	}
	switch {
	case t.Same != nil:
		return !slices.ContainsFunc(t.Same, func(f string) bool { return levelOf(a, f) != levelOf(b, f) })
	case t.Vary != "" && t.Vary != analyze.ClaimEngine:
		return a.Engine == b.Engine && sameBut(a.Levels, b.Levels, t.Vary)
	}
	for _, f := range append(analyze.SortedKeys(a.Levels, b.Levels), analyze.ClaimEngine) {
		// What a test names otherwise on either side is what it is about.
		if f == t.Vary || t.Vary == "" && (!within(t.Of[f], t.To[f]) || !within(t.To[f], t.Of[f])) {
			continue
		}
		// Engines that both sides name are compared each with itself, also where one of them
		// has one side alone here: else the difference between managers would be judged.
		named := f == analyze.ClaimEngine && t.Of[f] != nil
		if levelOf(a, f) != levelOf(b, f) && (named || shared(c.levelsOf(asked{false, a.Engine, f}), c.levelsOf(asked{true, b.Engine, f}))) {
			return false
		}
	}
	return true
}

// within says whether each level of a is one of b: the order of a list says nothing.
func within(a, b []string) bool {
	return !slices.ContainsFunc(a, func(l string) bool { return !slices.Contains(b, l) })
}

// levelsOf are those of one side, found once.
func (c *chooser) levelsOf(of asked) []string {
	l, ok := c.levels[of]
	if !ok {
		side := c.a
		if of.b {
			side = c.b
		}
		l = levelsOf(side, of.engine, of.factor)
		c.levels[of] = l
	}
	return l
}

// levelsOf are those that a factor has on one side: among an engine's
// environments, or of the engine itself.
func levelsOf(side []*record.Environment, engine, factor string) []string {
	var out []string
	for _, e := range side {
		if l := levelOf(e, factor); (factor == analyze.ClaimEngine || e.Engine == engine) && !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// shared says whether a factor varies on both sides, among levels that they
// have in common: then like is compared with like. Storage drivers of two
// engines that have none in common are not held against each other.
func shared(a, b []string) bool {
	return len(a) > 1 && len(b) > 1 && slices.ContainsFunc(a, func(l string) bool { return slices.Contains(b, l) })
}

// sameBut says whether two environments were asked for alike but for a factor.
func sameBut(a, b map[string]string, factor string) bool {
	x, y := maps.Clone(a), maps.Clone(b)
	delete(x, factor)
	delete(y, factor)
	return maps.Equal(x, y)
}
