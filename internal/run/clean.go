package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/image"
)

// Cleaned is what a clean-up removed.
type Cleaned struct {
	Runs    []string `json:"runs"`    // ids of the runs that had been cut off
	Removed []string `json:"removed"` // what was taken away, by kind and name
}

// Clean removes whatever runs that were cut off have left on the machine.
// With images it also empties the store of converted images. No run may be
// under way meanwhile: the machine's lock sees to it.
func Clean(ctx context.Context, o Options, images bool) (*Cleaned, error) {
	unlock, err := o.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	c := &Cleaned{Runs: []string{}, Removed: []string{}}
	abandoned, err := o.State.Abandoned()
	errs := []error{err}
	for _, owner := range abandoned {
		c.Runs = append(c.Runs, owner.RunID)
		errs = append(errs, c.run(ctx, o, owner.RunID))
	}
	errs = append(errs, c.unknown(ctx, o), o.State.RestoreKernel())
	if images {
		dir := o.State.Images()
		if _, err := os.Stat(dir); err == nil {
			errs = append(errs, os.RemoveAll(dir))
			c.Removed = append(c.Removed, "images in "+dir)
		}
	}
	return c, errors.Join(errs...)
}

// sweepAbandoned removes what other runs left that were cut off: their daemons
// and containers would disturb this one.
func (r *runner) sweepAbandoned(ctx context.Context) {
	abandoned, err := r.State.Abandoned()
	if err != nil {
		r.progress.Remark(err.Error())
	}
	for _, owner := range abandoned {
		r.progress.Step("clearing away what run " + owner.RunID + " left")
		if err := new(Cleaned).run(ctx, r.Options, owner.RunID); err != nil {
			r.progress.Remark(err.Error())
		}
	}
}

// run removes what one run left.
func (c *Cleaned) run(ctx context.Context, o Options, id string) error {
	dir := o.State.RunDir(id)
	kit, ledger, err := NewKit(id, dir, o)
	if err != nil {
		return fmt.Errorf("cleaning up after run %s: %w", id, err)
	}
	defer ledger.Close()
	removed, err := Sweep(ctx, kit, o.Engines)
	c.Removed = append(c.Removed, removed...)
	errs := []error{err}
	removed, err = RemoveByHand(ctx, id, dir)
	c.Removed = append(c.Removed, removed...)
	errs = append(errs, err)
	if store, ok := kit.Images.(*image.Store); ok {
		errs = append(errs, store.Forget(id))
	}
	if err := errors.Join(errs...); err != nil {
		// The folder stays: it is what the next clean-up finds the rest by.
		return fmt.Errorf("cleaning up after run %s: %w", id, err)
	}
	return o.State.Release(id)
}

// unknown removes what carries our label though no folder tells of its run.
func (c *Cleaned) unknown(ctx context.Context, o Options) error {
	dir, err := os.MkdirTemp("", "plimsoll-clean-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	kit, ledger, err := NewKit("", filepath.Clean(dir), o)
	if err != nil {
		return err
	}
	defer ledger.Close()
	removed, err := Sweep(ctx, kit, o.Engines)
	c.Removed = append(c.Removed, removed...)
	return err
}
