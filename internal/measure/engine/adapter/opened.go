package adapter

import (
	"context"
	"errors"

	"plimsoll/internal/measure/engine"
)

// Opened ends an engine's Open: the environment where err is nil. Else what was
// opened so far is closed, also where the caller has given up.
func Opened(ctx context.Context, env engine.Environment, err error) (engine.Environment, error) {
	if err != nil {
		return nil, errors.Join(err, env.Close(context.WithoutCancel(ctx)))
	}
	return env, nil
}
