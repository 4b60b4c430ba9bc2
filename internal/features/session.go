package features

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"plimsoll/internal/record"
	"plimsoll/internal/run"
)

// sweepLimit bounds the clean-up after all attempts.
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
	id := run.NewRunID()
	dir, err := m.State.Claim(id, "")
	if err != nil {
		return nil, nil, err
	}
	kit, ledger, err := run.NewKit(id, dir, m)
	if err != nil {
		return nil, nil, errors.Join(err, m.State.Release(id))
	}
	o.Kit, o.All = kit, m.Engines
	t, err = Run(ctx, o)
	used := m.Engines[:0:0]
	for _, e := range m.Engines {
		if t != nil && slices.ContainsFunc(t.Engines, func(c record.FeatureEngine) bool { return c.Name == e.Info().Name && c.Missing == "" }) {
			used = append(used, e)
		}
	}
	if err != nil {
		t = nil
	}

	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), sweepLimit)
	defer cancel()
	swept, serr := run.Sweep(clean, kit, used)
	byHand, herr := run.RemoveByHand(clean, id, dir)
	swept = append(swept, byHand...)
	if serr = errors.Join(serr, herr, ledger.Close()); serr == nil {
		serr = m.State.Release(id)
	}
	if serr != nil { // the folder stays: plimsoll clean finds the rest by it
		serr = fmt.Errorf("taking everything away again (plimsoll clean tries once more): %w", serr)
	}
	return t, swept, errors.Join(err, serr)
}
