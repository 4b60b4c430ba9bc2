package study

import (
	"cmp"
	"fmt"
	"slices"

	"plimsoll/internal/record"
)

// inside is a workload that is to run in the environments of an ablation.
type inside struct {
	info   *WorkloadInfo
	params map[string]string
}

// insides are the workloads of a part, with every choice of their parameters.
func (s *Study) insides(part *Part, cat *Catalogue) (out []inside) {
	for i := range part.Workloads {
		work := &part.Workloads[i]
		info := cat.workload(work.Name)
		each(work.Parameters, func(levels []string) {
			out = append(out, inside{info, info.choose(work, levels, s.Protocol.SmallSizes)})
		})
	}
	return out
}

// idle says why none of the workloads can run in an environment; empty: one can.
func (a *ablator) idle(c *combination) (why string) {
	for _, w := range a.inside {
		reason := a.judge.cell(c, w.info, w.params).reason
		if reason == "" && w.keeps() && !c.engine.Detached {
			reason = fmt.Sprintf("%s needs an engine that keeps containers running by itself, and %s does not.", w.info.Name, c.engine.Name)
		}
		if reason == "" {
			return ""
		}
		why = cmp.Or(why, reason)
	}
	return why
}

// By convention, the parameter that says who keeps a workload's containers running,
// and its level for the engine.
const (
	modeParameter = "mode"
	byEngine      = "detached"
)

// keeps says that its containers must run without a process of ours.
func (w inside) keeps() bool {
	return w.params[modeParameter] == byEngine || w.info.needs(w.params).Detached
}

// keeps says the same of one of the workloads: a client that stays with each container
// is then no choice.
func (a *ablator) keeps() bool { return slices.ContainsFunc(a.inside, inside.keeps) }

// runs says that a workload is a program that runs for a time of its own: what is asked
// is then what its container costs it, against none at all.
func (a *ablator) runs() bool {
	return slices.ContainsFunc(a.inside, func(w inside) bool {
		return slices.ContainsFunc(w.info.metrics(w.params), func(m record.Metric) bool { return m.ID == "time" })
	})
}

// overBridges makes one mechanism of two that follow each other in a factor, where what
// is between them can't be had: sockperf needs a network, so that an engine's network
// is exchanged for the host's at once, whether or not the second was asked for.
func (a *ablator) overBridges(info *EngineInfo, base levelSet, asked []*Mechanism) []*Mechanism {
	out := slices.Clone(asked)
	for i := 0; i < len(out); i++ {
		m := out[i]
		k := slices.IndexFunc(info.Mechanisms, func(n Mechanism) bool {
			return !m.Adds && !n.Adds && n.Factor == m.Factor && n.From == m.To && !slices.Contains(joinedFactors, m.Factor)
		})
		between, there := base.without(m)
		if k < 0 || !there || a.can(info.Name, between) == "" {
			continue
		}
		next := &info.Mechanisms[k]
		both := *m
		both.To, both.Price = next.To, next.Price
		if at, _ := base.without(&both); a.can(info.Name, at) != "" {
			continue
		}
		a.over[&both] = next.Name
		out[i] = &both
		out = slices.DeleteFunc(out, func(n *Mechanism) bool { return n == next })
	}
	return out
}
