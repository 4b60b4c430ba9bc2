package podman

import (
	"context"
	"strings"

	"plimsoll/internal/measure/engine"
)

// Bearing looks into the stores of root and of the ordinary user.
func (e *Engine) Bearing(ctx context.Context, kit *engine.Kit, runID string) ([]engine.Thing, error) {
	var found []engine.Thing
	for _, level := range []string{"no", "yes"} {
		user, werr := who(kit, level)
		if werr != nil {
			continue // there is no such podman here
		}
		p, werr := find(kit, user)
		if werr != nil {
			continue
		}
		err := e.holding(ctx, kit, p, func() error {
			var containers []struct{ Names []string }
			if err := p.read(ctx, &containers, "ps", "--all", "--filter", "label="+engine.Label+"="+runID, "--format", "json"); err != nil {
				return wrong("listing the containers that bear the run's id", err)
			}
			for _, c := range containers {
				found = append(found, p.thing(engine.KindContainer, strings.Join(c.Names, " ")))
			}
			var images []struct{ Names []string }
			if err := p.read(ctx, &images, "images", "--format", "json"); err != nil {
				return wrong("listing the images that bear the run's id", err)
			}
			for _, i := range images {
				for _, tag := range i.Names {
					if strings.HasSuffix(tag, ":"+runID) {
						found = append(found, p.thing(engine.KindImage, tag))
					}
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
