package podman

import (
	"context"
	"errors"
	"slices"
	"strings"

	"plimsoll/internal/measure/engine"
)

var errNotUnfinished = errors.New("it has more than its storage, or is gone")

// unfinished returns the id of a container of the run's that can't be inspected, as
// podman leaves it where its making or its removal is broken off; "" is somebody's.
// One that is being removed has lost its layer: it is the run's by its label. One
// that has its storage and nothing else has no labels, and keeps its image from being
// removed: it is the run's by its name and by its image, whose tag is the run's id.
// An error says that there is none.
func (p *program) unfinished(ctx context.Context, name string) (id string, err error) {
	var list []struct {
		ID    string `json:"Id"`
		Names []string
		Image string
		State string
		// Labels are nil of one that has its storage alone.
		Labels map[string]string
	}
	if err := p.read(ctx, &list, "ps", "--all", "--external", "--format", "json"); err != nil {
		return "", err
	}
	for _, c := range list {
		switch {
		case !slices.Contains(c.Names, name) || c.State != "storage" && c.State != "removing":
		case p.runID != "" && (c.Labels[engine.Label] == p.runID || c.State == "storage" && strings.HasSuffix(c.Image, ":"+p.runID)):
			return c.ID, nil
		default:
			return "", nil
		}
	}
	return "", errNotUnfinished
}
