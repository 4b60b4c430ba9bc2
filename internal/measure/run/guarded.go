package run

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// safely turns a panic of an adapter into an error: one engine's fault must
// not take the others' results along, nor leave its containers to nobody.
func safely[T any](call func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	return call()
}

func panicked(p any) error {
	return &engine.Error{Class: record.HarnessError, Text: fmt.Sprintf("the adapter panicked: %v", p)}
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

// closeGuarded closes an environment. One that panics, or does not come back
// within the limit, is left, and the sweep removes what it held.
func closeGuarded(ctx context.Context, env engine.Environment, limit time.Duration) error {
	done := make(chan error, 1)
	go func() {
		_, err := safely(func() (struct{}, error) { return struct{}{}, env.Close(ctx) })
		done <- err
	}()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return &engine.Error{Class: record.TimeOut, Text: fmt.Sprintf("it did not come to an end within %v", limit)}
	}
}

func factsGuarded(env engine.Environment) (map[string]string, error) {
	return safely(func() (map[string]string, error) { return env.Facts(), nil })
}
