package run

import (
	"context"
	"fmt"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// safely turns a panic of an adapter into an error: one engine's fault must
// not take the others' results along, nor leave its containers to nobody.
func safely[T any](call func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("the adapter panicked: %v", p)}
		}
	}()
	return call()
}

func runGuarded(ctx context.Context, env engine.Environment, task engine.Task) (engine.Result, error) {
	return safely(func() (engine.Result, error) { return env.Run(ctx, task) })
}

func holdGuarded(ctx context.Context, h engine.Holder, task engine.Task) (engine.Held, error) {
	return safely(func() (engine.Held, error) { return h.Hold(ctx, task) })
}

func execGuarded(ctx context.Context, x engine.Executor, task engine.Task) (engine.Result, error) {
	return safely(func() (engine.Result, error) { return x.Exec(ctx, task) })
}

func endGuarded(ctx context.Context, h engine.Held, stop engine.Stop) (engine.Result, error) {
	return safely(func() (engine.Result, error) { return h.End(ctx, stop) })
}
