package adapter

import (
	"context"
	"errors"
	"testing"

	"plimsoll/internal/measure/engine"
)

// sharing is an environment that shares an image with others, and has a connection of its
// own: the one that has loaded the image is told to remove it.
type sharing struct {
	engine.Environment
	release func(context.Context) error
	hung    bool
}

func (e *sharing) Close(ctx context.Context) error {
	err := e.release(ctx)
	e.hung = true
	return err
}

// What environments share is removed while its connection is open.
func TestCloseAll(t *testing.T) {
	var images Pool[any]
	var envs []engine.Environment
	removed := false
	for range 3 {
		env := &sharing{}
		release, err := images.Hold(t.Context(), "image", func(context.Context) (func(context.Context) error, error) {
			return func(context.Context) error {
				if env.hung {
					return errors.New("the client connection is closing")
				}
				removed = true
				return nil
			}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		env.release = release
		envs = append(envs, env)
	}
	if err := engine.CloseAll(t.Context(), envs); err != nil || !removed {
		t.Errorf("the image is removed: %v, %v", removed, err)
	}
}
