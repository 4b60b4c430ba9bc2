package docker

import (
	"context"
	"fmt"
	"time"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
)

// The daemon goes on making a container whose client is gone, for seconds on a busy
// machine: it gives the name away at the beginning, and shows the container at the end.
// So one that is not there may still come, and whether it will is told by the name.

// lateMost bounds for how many containers of a ledger, the last ones first, this is
// asked: no more are made at once, and the daemon may have lost hundreds.
const lateMost = 20

// lateLimit is how long a container is looked for where the name tells nothing.
const lateLimit = 2 * time.Second

// imageLimit is for how long an image is looked for that is not there: the daemon goes on
// unpacking the layers that it has of a pull or a load whose client is gone.
const imageLimit = 5 * time.Second

// comes returns whether an image is there, or comes by then.
func (d *daemon) comes(ctx context.Context, tag string, by time.Time) (bool, error) {
	for {
		if there, err := d.has(ctx, tag); there || err != nil || time.Now().After(by) {
			return there, err
		}
		if !engine.Pause(ctx, 100*time.Millisecond) {
			return false, nil
		}
	}
}

// removeSurely is removeContainer for one that the daemon may still be making from an
// image: it returns when none of this name is there and none is being made.
func (d *daemon) removeSurely(ctx context.Context, name, tag string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	began := time.Now()
	for {
		found, err := d.removeContainer(ctx, name)
		if err != nil || found {
			return err
		}
		switch is, err := d.nameIs(ctx, name, tag); {
		case err != nil:
			return err
		case is == free, is == others, is == unknown && time.Since(began) > lateLimit:
			return nil
		}
		if !engine.Pause(ctx, 50*time.Millisecond) {
			return fmt.Errorf("the daemon was still making the container %s after %v", name, removeLimit)
		}
	}
}

// nameState is what is known of a container's name when none of ours bears it.
type nameState int

const (
	unknown nameState = iota
	free              // the daemon gives it to whoever asks
	taken             // by a container that is being made or removed
	others            // by a container of somebody else's
)

// nameIs asks the daemon for a container of this name, which is created, never started
// and removed again. It is entered in the ledger as the one that it stands in for.
func (d *daemon) nameIs(ctx context.Context, wanted, tag string) (nameState, error) {
	if tag == "" {
		return unknown, nil
	}
	made, err := d.ContainerCreate(ctx, client.ContainerCreateOptions{Name: wanted,
		Config:     &container.Config{Image: tag, Entrypoint: []string{image.ProbePath}, Labels: map[string]string{engine.Label: d.runID}},
		HostConfig: &container.HostConfig{NetworkMode: "none", LogConfig: container.LogConfig{Type: logDriver}}})
	switch {
	case cerrdefs.IsConflict(err):
		if res, err := d.ContainerInspect(ctx, wanted, client.ContainerInspectOptions{}); err == nil &&
			(res.Container.Config == nil || res.Container.Config.Labels[engine.Label] != d.runID) {
			return others, nil
		}
		return taken, nil
	case ctx.Err() != nil: // the daemon may be making the one that was asked for just now
		return unknown, d.wrong("asking by its name for the container "+wanted, err)
	case err != nil:
		return unknown, nil //nolint:nilerr // an image that is gone, a full disk, a rule of the user's
	}
	if _, err := d.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true}); err != nil && !cerrdefs.IsNotFound(err) {
		return free, d.wrong("removing the container "+wanted, err)
	}
	return free, nil
}
