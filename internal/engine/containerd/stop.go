package containerd

import (
	"context"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/errdefs"

	"plimsoll/internal/engine/stamp"
	"plimsoll/internal/record"
)

// stop ends the task once the payload is ready. containerd has no stop: its
// clients send SIGTERM, wait for the grace and send SIGKILL, and so do we.
func (l *life) stop(ctx context.Context, task client.Task, end <-chan ended) (ended, error) {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.stdout.Ready():
	case <-l.io.drained:
		if l.stdout.First() == 0 {
			return ended{}, errNotReady
		}
	case <-ctx.Done():
		return ended{}, ctx.Err()
	}
	l.phase = "stopping the task"
	grace := time.NewTimer(l.task.Stop.Grace)
	defer grace.Stop()
	l.res.Events[record.Stop] = stamp.Now()
	if err := signal(ctx, task, syscall.SIGTERM); err != nil {
		return ended{}, err
	}
	select {
	case e := <-end:
		return e, nil
	case <-ctx.Done():
		return ended{}, ctx.Err()
	case <-grace.C:
	}
	if err := signal(ctx, task, syscall.SIGKILL); err != nil {
		return ended{}, err
	}
	select {
	case e := <-end:
		return e, nil
	case <-ctx.Done():
		return ended{}, ctx.Err()
	}
}

// signal sends a signal; that the task has ended meanwhile is no error.
func signal(ctx context.Context, task client.Task, sig syscall.Signal) error {
	if err := task.Kill(ctx, sig); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsFailedPrecondition(err) {
		return err
	}
	return nil
}
