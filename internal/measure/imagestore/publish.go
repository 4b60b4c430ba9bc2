//go:build linux

package imagestore

import (
	"context"

	"plimsoll/internal/measure/image"
)

// Publish puts an image of a store and its sibling into the registry, under the run's
// tag.
func (r *Registry) Publish(ctx context.Context, images image.Provider, imageName, runID string) (*image.Published, error) {
	r.mu.Lock()
	p := r.images[imageName]
	r.mu.Unlock()
	if p != nil {
		return p, nil
	}
	layout, err := images.Path(ctx, imageName, image.OCILayout)
	if err != nil {
		return nil, err
	}
	from, err := OnlyImage(layout)
	if err != nil {
		return nil, &Error{Text: "putting the image " + imageName + " into the registry of the run", Err: err}
	}
	return r.PublishImage(ctx, from, imageName, runID)
}
