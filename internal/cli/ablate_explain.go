//go:build linux

package cli

import (
	"slices"

	"plimsoll/internal/measure/study"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze"
	"plimsoll/internal/understand/analyze/ablation"
	"plimsoll/internal/understand/timeline"
)

// explainable refuses --explain before anything is measured.
func (f *ablateFlags) explainable(args []string) error {
	switch {
	case !f.explain:
		return nil
	case ablatedBy(args).workload != lifeCycle:
		return fail(Usage, "--explain follows starts, of the workload %s, and not of %s", lifeCycle, ablatedBy(args).workload)
	default:
		return rooted(args)
	}
}

// observedStarts are how many starts are traced of each environment.
const observedStarts = 10

// observe follows starts of the engine with and without each mechanism that was found
// to cost something.
func (f *ablateFlags) observe(w World, res *analyze.Result, plan *study.Plan) error {
	x, a := res.Ablations[0], plan.Study.Ablations[0]
	e := explainFlags{starts: observedStarts, asked: true, progress: f.progress, wait: f.wait, unlimited: true}
	var ids []string
	place := func(id string) int {
		if i := slices.Index(ids, id); i >= 0 {
			return i
		}
		ids = append(ids, id)
		return len(ids) - 1
	}
	type pair struct {
		step          *ablation.Step
		with, without int
	}
	var pairs []pair
	for _, s := range x.Savings() {
		i := slices.IndexFunc(a.Steps, func(t record.AblationStep) bool { return t.Mechanism == s.Mechanism })
		k := slices.IndexFunc(x.Steps, func(t ablation.Step) bool { return t.Of == s.Of && t.Mechanism == s.Mechanism })
		if i >= 0 && k >= 0 && a.Steps[i].With != "" && a.Steps[i].Without != "" {
			pairs = append(pairs, pair{&x.Steps[k], place(a.Steps[i].With), place(a.Steps[i].Without)})
		}
	}
	if len(pairs) == 0 {
		return nil
	}
	var all [][]string
	for _, id := range ids {
		all = append(all, askedLevels(plan, id))
	}
	traced, err := e.environments(w, all...)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		o := timeline.Observe(timeline.Against(traced[p.with], traced[p.without]))
		p.step.Observed = &ablation.Observed{Starts: observedStarts, With: o.With, Without: o.Without, Gone: o.Gone, Else: o.Else}
		for _, s := range o.Steps {
			p.step.Observed.Steps = append(p.step.Observed.Steps, ablation.ObservedStep{Name: s.Name, With: s.A, Without: s.B})
		}
	}
	return nil
}

// askedLevels are an environment's engine and levels, as explain takes them.
func askedLevels(plan *study.Plan, id string) []string {
	for _, e := range plan.Environments {
		if e.ID != id {
			continue
		}
		out := []string{e.Engine}
		for factor, level := range e.Levels {
			out = append(out, factor+"="+level)
		}
		slices.Sort(out[1:])
		return out
	}
	return nil
}
