package podman

import (
	"context"
	"errors"
	"slices"
	"strings"
)

var errNotUnfinished = errors.New("it has more than its storage, or is gone")

// unfinished gives the id of a container of the run's that has its storage and
// nothing else, as podman leaves it where its making or its removal is broken
// off: it can't be inspected, has no labels, and keeps its image from being
// removed. It is the run's by its name and by its image, whose tag is the run's
// id; "" is somebody's. An error says that there is none.
func (p *program) unfinished(ctx context.Context, name string) (id string, err error) {
	var list []struct {
		ID    string `json:"Id"`
		Names []string
		Image string
		State string
	}
	if err := p.read(ctx, &list, "ps", "--all", "--external", "--format", "json"); err != nil {
		return "", err
	}
	for _, c := range list {
		switch {
		case c.State != "storage" || !slices.Contains(c.Names, name):
		case p.runID != "" && strings.HasSuffix(c.Image, ":"+p.runID):
			return c.ID, nil
		default:
			return "", nil
		}
	}
	return "", errNotUnfinished
}
