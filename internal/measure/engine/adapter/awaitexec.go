package adapter

import (
	"context"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// AwaitExec asks every millisecond for the status of a program that was
// executed, until it has ended: an API tells it a moment after the output has
// ended, or later where a child that lives on has closed it.
func AwaitExec(ctx context.Context, res *engine.Result, ask func() (running bool, status int, err error)) error {
	for {
		running, status, err := ask()
		at := stamp.Now()
		if err != nil {
			return err
		}
		if !running {
			res.Events[record.Exit], res.Exit = at, &status
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
