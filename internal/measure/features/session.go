package features

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/run"
	"plimsoll/internal/record"
)

// sweepLimit bounds the clean-up after all attempts, before child.Stretch.
const sweepLimit = 3 * time.Minute

// OnMachine takes the machine's turn, fills the table and takes everything
// away again. What the attempts themselves had not taken away is the second
// result. The kit of o is made here, from what a run is given.
func OnMachine(ctx context.Context, m run.Options, o Options) (t *record.Features, swept []string, err error) {
	unlock, err := m.Turn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer unlock()
	id := record.NewRunID()
	dir, err := m.State.Claim(id, "", m.User)
	if err != nil {
		return nil, nil, err
	}
	kit, ledger, err := run.NewKit(id, dir, m)
	if err != nil {
		return nil, nil, errors.Join(err, m.State.Release(id))
	}
	o.Kit, o.All = kit, m.Engines
	t, err = Run(ctx, o)
	if err != nil {
		t = nil
	}

	clean, cancel := child.Within(context.WithoutCancel(ctx), sweepLimit)
	defer cancel()
	swept, serr := run.SweepAll(clean, kit, m.Engines)
	if serr = errors.Join(serr, ledger.Close()); serr == nil {
		serr = m.State.Release(id)
	}
	if serr != nil { // the folder stays: plimsoll clean finds the rest by it
		serr = fmt.Errorf("taking everything away again (plimsoll clean tries once more): %w", serr)
	}
	return t, swept, errors.Join(err, serr)
}
