package adapter

import (
	"context"
	"errors"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// refuses fails its first starts.
type refuses struct {
	engine.Environment
	class  record.Class
	starts int
}

func (r *refuses) Run(context.Context, engine.Task) (engine.Result, error) {
	r.starts++
	return engine.Result{Failure: &record.Failure{Class: r.class, Text: "device or resource busy"}}, nil
}

// TestProveAgain: an environment is not given up for one start that the engine refused;
// what takes its time to fail, or can't be had, is not waited for twice.
func TestProveAgain(t *testing.T) {
	for class, want := range map[record.Class]int{record.EngineError: 2, record.TimeOut: 1, record.Unsupported: 1} {
		env := &refuses{class: class}
		_, err := Prove(t.Context(), &engine.Kit{RunID: "abcdefgh"}, env, "x")
		var e *engine.Error
		if !errors.As(err, &e) || e.Class != class || env.starts != want {
			t.Errorf("%s: %d starts, not %d; %v", class, env.starts, want, err)
		}
	}
}
