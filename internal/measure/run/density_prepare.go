package run

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// prepareRamps holds one container in each environment that has a ramp before
// it, and takes the ramp out of the plan where the engine can't hold one in
// the mode that is asked for. Once trials are recorded the plan is fixed, and
// the trial will fail.
func (r *runner) prepareRamps(ctx context.Context) error {
	if len(r.writer.Complete()) > 0 {
		return nil
	}
	jobs, err := r.jobs()
	if err != nil {
		return err
	}
	for k, c := range slices.Clone(r.Plan.Cells) {
		j := jobs[k]
		if j.Density == nil {
			continue
		}
		env, w := r.Plan.Environments[c.Env].ID, r.Plan.Workloads[c.Workload].ID
		o := r.session.envs[opened{env, j.image}]
		if o == nil {
			continue
		}
		why := r.tryHold(ctx, o, *j.Density, k)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if why == "" {
			continue
		}
		if err := r.Plan.DropCell(env, w, study.Unavailable, why, ""); err != nil {
			return err
		}
	}
	return nil
}

// tryHold says why a ramp can't be had in an environment; an engine that
// merely fails will do so in the trial, where it is counted.
func (r *runner) tryHold(ctx context.Context, o *openEnv, what workload.Density, cell int) string {
	holder, ok := o.env.(engine.Holder)
	if !ok {
		return noHolder(o.rec.ID)
	}
	if o.virtual {
		return "" // what it draws by chance belongs to its trials
	}
	what.Count, what.TouchBytes = 1, 0
	a := &ramp{site: &r.site, o: o, what: what, seq: -1 - cell, holder: holder}
	task := a.task(0, newWord())
	task.Name = "plimsoll-" + r.rec.ID + "-hold-" + strconv.Itoa(cell)
	h, err := holdGuarded(ctx, a.holder, task)
	if err != nil {
		var e *engine.Error
		if errors.As(err, &e) && e.Class == record.Unsupported {
			return err.Error()
		}
		return ""
	}
	a.held = []*rampHeld{{Held: h}}
	why := wrongMode(o.rec.ID, what, h.Place())
	a.clear(ctx)
	return why
}
