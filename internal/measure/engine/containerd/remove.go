package containerd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/containerdclient"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// remove kills and removes a container with its task and its snapshot, and the
// control groups that a runtime leaves which gave up (crun, when a start is
// broken off). What is not there is gone.
func (d *daemon) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	err := d.removeContainer(ctx, name)
	if strings.HasPrefix(name, "plimsoll-") {
		err = errors.Join(err, cgroup.RemoveNamed(ctx, d.ledger, name))
	}
	return err
}

func (d *daemon) removeContainer(ctx context.Context, name string) error {
	c, err := d.LoadContainer(ctx, name)
	if errdefs.IsNotFound(err) {
		return d.removeSnapshots(ctx, name)
	}
	if err != nil {
		return d.wrong("looking for the container "+name, err)
	}
	undo, err := d.restoreWrapper(ctx, c)
	if err != nil {
		return d.wrong("removing the container "+name, err)
	}
	defer undo()
	if task, err := c.Task(ctx, nil); err == nil {
		if err := containerdclient.End(ctx, task); err != nil {
			return d.wrong("ending the container "+name, err)
		}
	}
	if err := c.Delete(ctx); err != nil && !errdefs.IsNotFound(err) {
		return d.wrong("removing the container "+name, err)
	}
	return d.removeSnapshots(ctx, name)
}

// removeSnapshots removes a container's snapshot from every snapshotter that
// has it: which one it was need not be known any more.
func (d *daemon) removeSnapshots(ctx context.Context, key string) error {
	plugins, err := d.plugins(ctx)
	if err != nil {
		return d.wrong("asking for the snapshotters", err)
	}
	for name, s := range plugins {
		if s.problem != "" {
			continue
		}
		if err := d.SnapshotService(name).Remove(ctx, key); err != nil && !errdefs.IsNotFound(err) {
			return d.wrong("removing the snapshot "+key, err)
		}
	}
	return nil
}

// exists says whether the daemon knows a container.
func (d *daemon) exists(ctx context.Context, name string) (bool, error) {
	_, err := d.ContainerService().Get(ctx, name)
	switch {
	case errdefs.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, d.wrong("looking for the container "+name, err)
	}
	return true, nil
}
