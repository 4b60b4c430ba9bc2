package clirun

import (
	"context"
	"errors"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Exec runs a plan for a program in a container that is held already: its
// events are those of engine.Executor.
func (b *Base) Exec(ctx context.Context, p Plan) (engine.Result, error) {
	res, err := b.Run(ctx, p)
	for _, e := range []record.Event{record.Created, record.Start, record.Started, record.Removed} {
		delete(res.Events, e)
	}
	return res, err
}

// WithExec makes a held container an engine.Executor: plan is for one program
// inside.
func (h *Held) WithExec(plan func(engine.Task) (Plan, error)) engine.Held { return &executor{h, plan} }

type executor struct {
	*Held
	plan func(engine.Task) (Plan, error)
}

// Exec is documented in engine.Executor.
func (x *executor) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	p, err := x.plan(task)
	if err != nil {
		return Refused(err), nil
	}
	return x.base.Exec(ctx, p)
}

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

// Refused is the result of a trial that could not begin, of the error's class
// or else our own fault.
func Refused(err error) engine.Result {
	f := &record.Failure{Class: record.HarnessError, Text: err.Error()}
	var e *engine.Error
	if errors.As(err, &e) {
		f.Class = e.Class
	}
	return engine.Result{Failure: f}
}

// Unsupported is an error for what the engine can't do.
func Unsupported(text string) error { return &engine.Error{Class: record.Unsupported, Text: text} }
