package portable

import (
	"context"
	"fmt"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
)

// removeLimit bounds a removal.
const removeLimit = 30 * time.Second

// removeContainer kills and removes a container of the run's, with its volumes, and
// returns when it is gone. What is not there is gone; what bears the name and not the
// run's label is somebody else's.
func (d *Daemon) removeContainer(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	for {
		res, err := d.ContainerInspect(ctx, name, client.ContainerInspectOptions{})
		switch c := res.Container; {
		case cerrdefs.IsNotFound(err):
			return nil
		case err != nil:
			return d.wrong("looking for the container "+name, err)
		case c.Config == nil || d.RunID == "" || c.Config.Labels[engine.Label] != d.RunID:
			return nil
		}
		// By its id: the name may be somebody else's by now.
		_, err = d.ContainerRemove(ctx, res.Container.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
		if err != nil && !cerrdefs.IsNotFound(err) && !cerrdefs.IsConflict(err) {
			return d.wrong("removing the container "+name, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the container %s was still there after %v", name, removeLimit)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// removeImage takes a tag of the run's away, and the image where nobody else has a tag
// on it. It is not forced, and done only where the image bears the run's label.
func (d *Daemon) removeImage(ctx context.Context, tag string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
	defer cancel()
	have, err := d.ImageInspect(ctx, tag)
	switch {
	case cerrdefs.IsNotFound(err):
		return nil
	case err != nil:
		return d.wrong("looking for the image "+tag, err)
	case have.Config == nil || d.RunID == "" || have.Config.Labels[engine.Label] != d.RunID:
		return nil
	}
	if _, err := d.ImageRemove(ctx, tag, client.ImageRemoveOptions{PruneChildren: true}); err != nil && !cerrdefs.IsNotFound(err) {
		return d.wrong("removing the image "+tag, err)
	}
	return nil
}
