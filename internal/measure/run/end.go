package run

import (
	"context"
	"errors"
	"time"

	"plimsoll/internal/measure/host"
	"plimsoll/internal/measure/imagestore"
)

// cleanUp closes the environments, sweeps what is left and audits the machine.
func (r *runner) cleanUp(ctx context.Context, before *host.Census, putBack func() error, sum *Summary) error {
	r.progress.Step("cleaning up")
	errs := []error{r.tuner.close(), r.prover.close()}
	if r.session != nil {
		errs = append(errs, r.session.closeAll(ctx, 2*r.openLimit))
	}
	errs = append(errs, r.pulls.close(), r.watching.close(), putBack())
	removed, now, err := sweepAll(ctx, r.machine, r.kit, r.Engines)
	if err != nil || len(removed) > 0 {
		now = nil
	}
	for _, it := range removed {
		r.progress.Remark("left by the run, and removed at its end: " + it)
	}
	errs = append(errs, err)
	if store, ok := r.kit.Images.(*imagestore.Store); ok {
		errs = append(errs, store.Close())
	}
	ours, others, err := audit(ctx, r.machine, before, now, r.kit, r.Engines)
	sum.Residue, sum.Audit = ours, others
	r.rec.Residue = ours
	r.progress.End()
	return errors.Join(append(errs, err)...)
}

// end writes the last of the record and lets go of the run's folder.
func (r *runner) end(sum *Summary) error {
	r.rec.Status = "interrupted"
	if sum != nil && !sum.Interrupted {
		r.rec.Status = "done"
	}
	r.rec.Finished = time.Now()
	if r.was != nil { // it did not come to a trial
		r.rec.Environments = r.was.Environments
	}
	var errs []error
	if !r.unchanged {
		errs = append(errs, r.writer.Update(r.rec))
	}
	errs = append(errs, r.writer.Close(), r.ledger.Close())
	if sum != nil && !sum.Left() {
		errs = append(errs, r.State.Release(r.rec.ID))
	}
	if r.disturb != nil {
		errs = append(errs, r.disturb.Close())
	}
	if r.calm != nil {
		errs = append(errs, r.calm.Close())
	}
	if r.tracing != nil {
		errs = append(errs, r.tracing.recorder.Close())
	}
	return errors.Join(errs...)
}
