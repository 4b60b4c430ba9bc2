package portable

import (
	"context"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// pullOf is what a workload pulls; nil where it is no pull.
func pullOf(w *record.Workload) *workload.Pull {
	def, err := workload.Of(*w)
	if err != nil {
		return nil
	}
	inst, err := def.Instance(w.Params)
	if err != nil {
		return nil
	}
	return inst.Pull
}

// noPull says why an environment can't pull what a workload wants pulled, as far as that
// is known before it has tried; "" where it can, or where the workload is no pull.
func (l *Look) noPull(env *record.Environment, w *record.Workload) (reason, fix string) {
	p := pullOf(w)
	if p == nil {
		return "", ""
	}
	if l.PullFrom == "" {
		if f := l.Found(env.Engine); f.Kind != bySocket {
			return "it pulls from a registry on this machine's loopback, and nothing shows that " + env.Engine + " runs on this machine: it is reached by " + f.Kind, pullFromFix
		}
	}
	return l.Images.Has(p.Image)
}

// provePulls tries the pulls that the plan wants in an environment. What can't be pulled
// leaves the plan, with the reason; once trials are recorded the plan is fixed, and the
// trial will fail.
func (r *run) provePulls(ctx context.Context, env *environment) error {
	tried := map[string]error{}
	for _, c := range slices.Clone(r.Plan.Cells) {
		w := &r.Plan.Workloads[c.Workload]
		p := pullOf(w)
		if p == nil || r.Plan.Environments[c.Env].ID != env.rec.ID {
			continue
		}
		if _, done := tried[p.Image]; !done {
			tried[p.Image] = r.provePull(ctx, env, p.Image)
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case tried[p.Image] == nil:
			continue
		}
		reason, fix := engine.Reason(tried[p.Image])
		r.Say(env.rec.ID + " with " + w.ID + " is unavailable: " + Advised(reason, fix))
		if r.measured() {
			continue
		}
		if err := r.Plan.DropCell(env.rec.ID, w.ID, study.Unavailable, reason, fix); err != nil {
			return err
		}
	}
	return nil
}

// unproved says why a pull from the user's repository can't be shown to be cold; "" where
// it can. Layers that have arrived before a pull breaks off may stay in the store, under the
// run's own mark, and Docker alone tells of those that it holds.
func (r *run) unproved(engine string) string {
	if r.source.registry != nil || engine == Docker || !slices.Contains(r.broken, engine) {
		return ""
	}
	return "nothing shows any more that a pull is cold: an earlier one of this run has broken off, whose layers " + engine + " may hold without telling; measure it in a new run"
}

// brokenOff are the engines of which the earlier part of a run was killed in a pull, by
// what its ledger had.
func brokenOff(left []engine.Thing) (engines []string) {
	for _, t := range left {
		if t.Engine == Podman && t.Kind == engine.KindImage && !strings.HasPrefix(t.Name, loaded) {
			engines = append(engines, t.Engine)
		}
	}
	return engines
}
