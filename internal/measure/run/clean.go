package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/imagestore"
)

// Cleaned is what a clean-up removed.
type Cleaned struct {
	State   string     `json:"state"`   // the state directory, whose ledgers alone were read
	Runs    []string   `json:"runs"`    // ids of the runs that had been cut off
	Removed []string   `json:"removed"` // what was taken away, by kind and name
	Kept    []KeptOver `json:"kept"`    // what could not be, and stays in the run's ledger
	// Elsewhere are the runs that were left alone, since nobody can say from here whether
	// they were cut off.
	Elsewhere []Owner `json:"elsewhere,omitempty"`
	// Others are proofs of runs that belong to other users, who have to clean up themselves.
	Others []string `json:"others,omitempty"`
	// Claims are folders of runs that somebody may be beginning elsewhere.
	Claims []string `json:"claims,omitempty"`
	// LeftOn is what of the kernel stays as a run has set it, since others may need it.
	LeftOn []string `json:"left_on,omitempty"`
	// LeftAlone are processes that look like a run's and are not proved to be.
	LeftAlone []string `json:"left_alone,omitempty"`
}

// KeptOver is a thing of a run's that a clean-up could not take away.
type KeptOver struct {
	Run string `json:"run"`
	engine.Kept
}

// Clean removes whatever runs that were cut off have left on the machine: what
// their ledgers name, and nothing else. With images it also empties the store
// of converted images. No run may be under way meanwhile: the machine's lock
// sees to it. of are hosts that are no more, whose runs have all been cut off.
func Clean(ctx context.Context, o Options, images bool, of ...string) (*Cleaned, error) {
	unlock, err := o.Turn(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := o.State.usable(); err != nil {
		return nil, err
	}
	c := &Cleaned{State: o.State.Dir, Runs: []string{}, Removed: []string{}, Kept: []KeptOver{}}
	abandoned, elsewhere, others, err := o.State.left(of)
	c.Elsewhere, c.Others = elsewhere, others
	errs := []error{err}
	for _, owner := range abandoned {
		c.Runs = append(c.Runs, owner.RunID)
		errs = append(errs, c.run(ctx, o, owner.RunID))
	}
	over, err := imagestore.NewStore(o.State.Images(), nil, imagestore.Options{}).ForgetOver(o.State.live)
	for _, id := range over {
		c.Removed = append(c.Removed, "image archives of run "+id)
	}
	claims, terr := o.State.tidy()
	c.Claims = claims
	errs = append(errs, err, terr, o.State.RestoreKernel())
	if images {
		removed, err := imagestore.RemoveStore(o.State.Images())
		if removed {
			c.Removed = append(c.Removed, "images in "+o.State.Images())
		}
		errs = append(errs, err, c.removeStores(o.State))
	}
	return c, errors.Join(errs...)
}

// usable returns an error that names the state directory's owner where it belongs to
// another user or can't be opened; nil where there is none.
func (s State) usable() error {
	open := s.home
	info, err := os.Lstat(s.Dir)
	if errors.Is(err, fs.ErrNotExist) { // it is to be made in a directory that is safe
		open = func() (*safepath.Dir, error) { return safepath.Open(filepath.Dir(s.Dir), safepath.Caller(os.Getenv)) }
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		var dir *safepath.Dir
		if dir, err = open(); err == nil {
			dir.Close()
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var unsafe *safepath.UnsafeError
	if errors.As(err, &unsafe) { // names the owner
		return fmt.Errorf("opening the state directory: %w", err)
	}
	const own = "run it as that user, or name a directory of your own by PLIMSOLL_STATE"
	if info != nil && os.Geteuid() != 0 && errors.As(safepath.Alone(s.Dir, info), &unsafe) && unsafe.UID != os.Geteuid() {
		return fmt.Errorf("opening the state directory: %s %s; %s", s.Dir, unsafe.Why, own)
	}
	if err != nil {
		return fmt.Errorf("opening the state directory: %w; name a directory of your own by PLIMSOLL_STATE", err)
	}
	return nil
}

// sweepAbandoned removes what other runs left that were cut off: their daemons
// and containers would disturb this one.
func (r *runner) sweepAbandoned(ctx context.Context) {
	abandoned, err := r.State.Abandoned()
	if err != nil {
		r.progress.Remark(err.Error())
	}
	for _, owner := range abandoned {
		r.progress.Step("cleaning up what run " + owner.RunID + " left (state directory " + r.State.Dir + ")")
		c := new(Cleaned)
		if err := c.run(ctx, r.Options, owner.RunID); err != nil {
			r.progress.Remark(err.Error())
		}
		for _, l := range c.LeftOn {
			r.progress.Remark(leftOn(l))
		}
		for _, l := range c.LeftAlone {
			r.progress.Remark("left alone: " + l)
		}
		for _, k := range c.Kept {
			r.progress.Remark("of run " + k.Run + ", which was cut off: " + engine.KeptErrors([]engine.Kept{k.Kept}).Error())
		}
	}
}

// leftOn says that something of the kernel stays as a run has set it.
func leftOn(what string) string { return "left on: " + what }

// run removes what one run left. Its folder, with the ledger, goes when all
// that the ledger names is gone.
func (c *Cleaned) run(ctx context.Context, o Options, id string) error {
	dir := o.State.RunDir(id)
	kit, ledger, err := NewKit(id, dir, o)
	if err != nil {
		return fmt.Errorf("cleaning up after run %s: %w", id, err)
	}
	defer ledger.Close()
	kit.LeftOn = func(what string) { c.LeftOn = append(c.LeftOn, what) }
	kit.LeftAlone = func(what string) { c.LeftAlone = append(c.LeftAlone, what) }
	removed, kept, err := Sweep(ctx, kit, o.Engines)
	c.Removed = append(c.Removed, removed...)
	for _, k := range kept {
		c.Kept = append(c.Kept, KeptOver{id, k})
	}
	errs := []error{err}
	if store, ok := kit.Images.(*imagestore.Store); ok {
		errs = append(errs, store.Forget(id))
	}
	if err := errors.Join(errs...); err != nil {
		// The folder stays: it is what the next clean-up finds the rest by.
		return fmt.Errorf("cleaning up after run %s: %w", id, err)
	}
	if len(kept) > 0 {
		return nil
	}
	return o.State.Release(id)
}
