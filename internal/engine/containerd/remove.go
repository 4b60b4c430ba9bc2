package containerd

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/core/snapshots"
	"github.com/containerd/errdefs"

	"plimsoll/internal/engine"
	"plimsoll/internal/record"
)

// removeLimit bounds the removal of what a failed trial left.
const removeLimit = 20 * time.Second

// remove kills and removes a container with its task and its snapshot. What is
// not there is gone.
func (d *daemon) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	c, err := d.LoadContainer(ctx, name)
	if errdefs.IsNotFound(err) {
		return d.removeSnapshots(ctx, name)
	}
	if err != nil {
		return d.wrong("looking for the container "+name, err)
	}
	if task, err := c.Task(ctx, nil); err == nil {
		// Not the client's own kill-and-delete: it waits for a runtime that
		// may have lost its container.
		if err := d.end(ctx, task); err != nil {
			return d.wrong("ending the container "+name, err)
		}
	}
	if err := c.Delete(ctx); err != nil && !errdefs.IsNotFound(err) {
		return d.wrong("removing the container "+name, err)
	}
	return d.removeSnapshots(ctx, name)
}

// end kills a task and deletes it.
func (d *daemon) end(ctx context.Context, task client.Task) error {
	w, err := task.Wait(ctx)
	if err != nil {
		return err
	}
	if err := task.Kill(ctx, syscall.SIGKILL, client.WithKillAll); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsFailedPrecondition(err) {
		// A runtime that can't signal all processes can still signal the first.
		if err := signal(ctx, task, syscall.SIGKILL); err != nil {
			return err
		}
	}
	if status, err := task.Status(ctx); err != nil || status.Status != client.Created {
		select {
		case <-w:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	_, err = task.Delete(ctx, client.WithProcessKill)
	if errdefs.IsNotFound(err) {
		return nil
	}
	return err
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

// notRemoved is what a failure says of a container that is still there.
func notRemoved(err error) string {
	var e *engine.Error
	if errors.As(err, &e) && e.Class == record.Unavailable {
		return "the container is removed when the daemon is back"
	}
	return err.Error()
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

// snapshotsOf lists the snapshots of containers of ours.
func (d *daemon) snapshotsOf(ctx context.Context, prefix string) ([]string, error) {
	plugins, err := d.plugins(ctx)
	if err != nil {
		return nil, err
	}
	var keys []string
	for name, s := range plugins {
		if s.problem != "" {
			continue
		}
		err := d.SnapshotService(name).Walk(ctx, func(_ context.Context, info snapshots.Info) error {
			if len(info.Name) > len(prefix) && info.Name[:len(prefix)] == prefix {
				keys = append(keys, info.Name)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing the snapshots of %s: %w", name, err)
		}
	}
	return keys, nil
}
