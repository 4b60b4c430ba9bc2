package engine

import (
	"context"
	"errors"
	"slices"
)

// CloseAll closes the environment that was opened first last, whatever the others say: the
// image and the namespace that all share were made by the first, and go by its connection.
func CloseAll(ctx context.Context, envs []Environment) error {
	var errs []error
	for _, env := range slices.Backward(envs) {
		errs = append(errs, env.Close(ctx))
	}
	return errors.Join(errs...)
}
