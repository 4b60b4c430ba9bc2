package findings

import (
	"slices"

	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
)

// Needs says which cells of a plan claims need: both sides of each pair that
// their tests can form, and with answers those of the answers too. Before an
// environment has been opened it is not known what the engine chose where a
// level was left to it: then it may be needed.
func Needs(claims []record.Claim, answers bool, envs []record.Environment, works []record.Workload) func(*record.Environment, *record.Workload) bool {
	type cell struct{ env, work string }
	in := map[cell]bool{}
	for i := range claims {
		c := &claims[i]
		tests := slices.Clone(c.Tests)
		if answers {
			for k := range c.Answers {
				tests = append(tests, c.Answers[k].Test)
			}
		}
		for k := range tests {
			n := need{&tests[k], envs, works}
			n.each(func(e *record.Environment, w *record.Workload) { in[cell{e.ID, w.ID}] = true })
		}
	}
	return func(e *record.Environment, w *record.Workload) bool { return in[cell{e.ID, w.ID}] }
}

// need is what one test needs of some environments and workloads.
type need struct {
	test  *record.ClaimTest
	envs  []record.Environment
	works []record.Workload
}

func (n *need) each(take func(*record.Environment, *record.Workload)) {
	a, b := n.side(n.test.Of), n.others()
	works, to := n.worksOf(&n.test.Workload), n.worksOf(&n.test.Workload)
	if n.test.ToWorkload != nil {
		to = n.worksOf(n.test.ToWorkload)
	}
	if n.test.Ratio != nil && len(b) == 0 {
		return // there is nothing to be compared with
	}
	for _, e := range a {
		for _, w := range works {
			take(e, w)
		}
	}
	if n.test.Ratio == nil {
		return
	}
	for _, e := range b {
		for _, w := range to {
			take(e, w)
		}
	}
}

// others are the environments of the pairs' other side.
func (n *need) others() []*record.Environment {
	switch {
	case n.test.Baseline != "":
		return n.those(func(e *record.Environment) bool { return e.Baseline == n.test.Baseline })
	case n.test.To != nil:
		return n.side(n.test.To)
	}
	return n.side(n.test.Of)
}

func (n *need) side(sel map[string][]string) []*record.Environment {
	return n.those(func(e *record.Environment) bool { return mayMatch(sel, e) })
}

func (n *need) those(match func(*record.Environment) bool) []*record.Environment {
	var out []*record.Environment
	for i := range n.envs {
		if match(&n.envs[i]) {
			out = append(out, &n.envs[i])
		}
	}
	return out
}

func (n *need) worksOf(c *record.WorkloadChoice) []*record.Workload {
	var out []*record.Workload
	for i := range n.works {
		w := &n.works[i]
		if of := (&analyze.Workload{ID: w.ID, Name: w.Name}); matchesWork(c, of.Group(), w.ID, w.Params) {
			out = append(out, w)
		}
	}
	return out
}

// mayMatch says whether an environment has the levels, as far as is known: what
// was left to an engine of which nothing is known yet may be any.
func mayMatch(sel map[string][]string, e *record.Environment) bool {
	if e.Facts != nil {
		return matchesEnv(sel, e)
	}
	known := map[string][]string{}
	for f, levels := range sel {
		if l := e.Levels[f]; f == analyze.ClaimEngine || l != "" && l != analyze.ClaimDefault {
			known[f] = levels
		}
	}
	return matchesEnv(known, e)
}
