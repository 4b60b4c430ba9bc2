package adapter

import (
	"context"
	"errors"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
)

// Closing is the end of an environment, which comes once.
type Closing struct{ once sync.Once }

// closeLimit bounds the end of an environment.
const closeLimit = 2 * time.Minute

// Do undoes what was opened, also where the caller's context is over already, as it
// often is after an interrupt. What comes after that, where it isn't nil, is tried again
// by each call.
func (c *Closing) Do(ctx context.Context, undo func(context.Context) []error, after ...func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	var errs []error
	c.once.Do(func() { errs = undo(ctx) })
	for _, f := range after {
		if f != nil {
			errs = append(errs, f(ctx))
		}
	}
	return errors.Join(errs...)
}

// Opened ends an engine's Open: the environment where err is nil. Else what was
// opened so far is closed, also where the caller has given up.
func Opened(ctx context.Context, env engine.Environment, err error) (engine.Environment, error) {
	if err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}
