package clirun

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
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

func (x *executor) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	p, err := x.plan(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	return x.base.Exec(ctx, p)
}
