package podman

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
)

var errNotUnfinished = errors.New("it has more than its storage, or is gone")

// unfinished returns the id of a container of the run's that can't be inspected, as
// podman leaves it where its making or its removal is broken off; "" is somebody's.
// One that is being removed has lost its layer: it is the run's by its label. One
// that has its storage and nothing else has no labels, and keeps its image from being
// removed: it is the run's by its name and by the image that it was made of, whose tag
// is the run's id. An error says that there is none.
func (p *program) unfinished(ctx context.Context, name string) (id string, err error) {
	var list []struct {
		ID    string `json:"Id"`
		Names []string
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
		case p.runID != "" && (c.Labels[engine.Label] == p.runID || c.State == "storage" && p.madeOfOurs(ctx, c.ID)):
			return c.ID, nil
		default:
			return "", nil
		}
	}
	return "", errNotUnfinished
}

// madeOfOurs says whether a container was made of an image by a tag of the run's. Podman
// itself tells any tag that the image has by now; the one that was asked for is in the
// storage's own list, or, of a container that a boot ends, in its list for this boot.
func (p *program) madeOfOurs(ctx context.Context, id string) bool {
	in, err := p.info(ctx)
	if err != nil {
		return false
	}
	found := false
	for _, file := range []string{filepath.Join(in.Store.GraphRoot, in.Store.GraphDriverName+"-containers", "containers.json"),
		filepath.Join(in.Store.RunRoot, in.Store.GraphDriverName+"-containers", "volatile-containers.json")} {
		var text []byte
		_ = p.asUser(func() (err error) { // what can't be read proves nothing
			text, err = safepath.ReadRegular(file, maxList, "podman's list of containers")
			return err
		})
		var list []struct{ ID, Metadata string }
		_ = json.Unmarshal(text, &list)
		for _, c := range list {
			var m struct {
				Image string `json:"image-name"`
			}
			found = found || c.ID == id && json.Unmarshal([]byte(c.Metadata), &m) == nil && strings.HasSuffix(m.Image, ":"+p.runID)
		}
	}
	return found
}

// maxList bounds what is read of podman's list of containers.
const maxList = 64 << 20
