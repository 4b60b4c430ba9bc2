package containerdclient

import (
	"context"
	"errors"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/errdefs"
)

// killEvery is how long a killed task has before it is killed again.
const killEvery = 2 * time.Second

// End kills a task and deletes it. What a kill says is kept only where the task
// does not end: runtimes complain when the process is dying already.
func End(ctx context.Context, task client.Task) error {
	w, err := task.Wait(ctx)
	if err != nil {
		return err
	}
	for {
		killed := task.Kill(ctx, syscall.SIGKILL)
		status, err := task.Status(ctx)
		if errdefs.IsNotFound(err) {
			return nil
		}
		if err == nil && status.Status == client.Stopped {
			break
		}
		select {
		case s := <-w:
			if s.Error() != nil {
				return s.Error()
			}
		case <-time.After(killEvery):
			continue
		case <-ctx.Done():
			return errors.Join(ctx.Err(), killed, err)
		}
		break
	}
	if _, err := task.Delete(ctx); err != nil && !errdefs.IsNotFound(err) {
		return err
	}
	return nil
}

// remove removes a container with its task.
func remove(ctx context.Context, c client.Container) error {
	if task, err := c.Task(ctx, nil); err == nil {
		if err := End(ctx, task); err != nil {
			return err
		}
	}
	return unlessGone(c.Delete(ctx))
}
