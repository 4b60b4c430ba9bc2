//go:build linux

package cli

import (
	"slices"

	"plimsoll/internal/common/stats"
	"plimsoll/internal/measure/run"
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
		return rooted(slices.Concat([]string{"ablate"}, args, []string{"--explain"})...)
	}
}

// observedStarts are how many starts are traced of each environment, at the least: half as
// many as there are blocks, of which the costs beside it are.
const observedStarts = 10

// observe asks the timeline, sets what it says beside what was found by taking away, and
// puts it into the record: reports and the page tell it from there.
func (f *ablateFlags) observe(w World, res *analyze.Result, o run.Options) error {
	t, err := f.timeline(w, res.Ablations[0], o.Plan)
	if err != nil {
		return err
	}
	for _, x := range res.Ablations {
		x.Observe(t)
	}
	return failing(record.WriteTimeline(o.Dir, t))
}

// timeline follows starts of the engine with and without each mechanism that was found
// to cost something.
func (f *ablateFlags) timeline(w World, x *ablation.Waterfall, plan *study.Plan) (*record.Timeline, error) {
	a := plan.Study.Ablations[0]
	e := explainFlags{starts: max(observedStarts, f.blocks/2), asked: true, turn: f.turn, unlimited: true}
	var ids []string
	place := func(id string) int {
		if i := slices.Index(ids, id); i >= 0 {
			return i
		}
		ids = append(ids, id)
		return len(ids) - 1
	}
	type pair struct {
		mechanism     string
		with, without int
	}
	var pairs []pair
	for _, s := range x.Costly() {
		steps := a.Steps
		if s.Kind == ablation.Addition {
			steps = a.Added
		}
		i := slices.IndexFunc(steps, func(t record.AblationStep) bool { return t.Mechanism == s.Mechanism })
		if i >= 0 && steps[i].With != "" && steps[i].Without != "" {
			pairs = append(pairs, pair{s.Mechanism, place(steps[i].With), place(steps[i].Without)})
		}
	}
	t := &record.Timeline{Schema: record.TimelineSchema, Tool: tool(), Engine: x.Engine, Workload: x.Workload, Metric: x.Metric.ID, Starts: e.starts, Mechanisms: []record.Observed{}}
	if len(pairs) == 0 {
		return t, nil
	}
	var all [][]string
	for _, id := range ids {
		all = append(all, askedLevels(plan, id))
	}
	traced, err := e.traced(w, all...)
	f.left = e.left
	if err != nil {
		return nil, err
	}
	var overheads []float64
	for _, x := range traced {
		t.Lost += x.alone.Lost
		if x.alone.Overhead > 0 {
			overheads = append(overheads, x.alone.Overhead)
		}
	}
	if len(overheads) > 0 {
		t.Overhead = stats.Median(overheads)
	}
	for _, p := range pairs {
		with, without := traced[p.with], traced[p.without]
		o := timeline.Observe(timeline.Against(with.alone, without.alone))
		seen := record.Observed{Mechanism: p.mechanism, With: o.With, Without: o.Without, Gone: o.Gone, Else: o.Else, Kinds: o.Kinds, Steps: o.Steps}
		if apart := timeline.Apart(with.spans, without.spans); apart != nil {
			seen.Lo, seen.Hi = int64(apart.Lo), int64(apart.Hi)
		}
		if apart := timeline.Apart(with.plain, without.plain); apart != nil {
			seen.PlainLo, seen.PlainHi = int64(apart.Lo), int64(apart.Hi)
		}
		t.Mechanisms = append(t.Mechanisms, seen)
	}
	return t, nil
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
