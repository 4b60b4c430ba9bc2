package adapter

import (
	"context"
	"fmt"

	"plimsoll/internal/measure/engine"
)

// Found says in a detection where an engine's program is and which version; false,
// with the reason, where it is not there or does not answer.
func Found(ctx context.Context, kit *engine.Kit, d *engine.Detection, program, fix string, version func(context.Context, string) (string, error)) bool {
	path, err := kit.LookPath(program)
	if err != nil {
		d.Reason, d.Fix = program+" is not installed", fix
		return false
	}
	d.Where = path
	if d.Version, err = version(ctx, path); err != nil {
		d.Reason = fmt.Sprintf("asking %s for its version: %v", path, err)
		return false
	}
	return true
}
