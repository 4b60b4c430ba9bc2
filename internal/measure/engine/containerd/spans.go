package containerd

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/private"
)

// Spans starts a private daemon.
func (e *Engine) Spans(ctx context.Context, kit *engine.Kit, spec engine.Spec) error {
	if err := private.HostNetwork(spec); err != nil {
		return err
	}
	if err := canStart(kit, storage(spec)); err != nil {
		return err
	}
	return containerdclient.Exports(ctx, kit)
}
