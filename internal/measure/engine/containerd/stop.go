package containerd

import (
	"context"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// ready awaits the payload's first byte.
func (l *life) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.stdout.Ready():
	case <-l.end.over:
		if l.stdout.First() == 0 {
			if l.end.err != nil {
				return l.end.err
			}
			return errNotReady
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stop ends the task. containerd has no stop: its clients send SIGTERM, wait
// for the grace and send SIGKILL, and so do we.
func (l *life) stop(ctx context.Context, grace time.Duration) error {
	l.phase = "stopping the task"
	timer := time.NewTimer(grace)
	defer timer.Stop()
	l.res.Events[record.Stop] = stamp.Now()
	if err := l.signal(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-timer.C:
		if err := l.signal(ctx, syscall.SIGKILL); err != nil {
			return err
		}
	case <-l.end.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.end.done:
		l.res.Events[record.Stopped] = l.end.at
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// endingFor is how long a process has to end whose runtime says of it, instead
// of sending a signal, that it does not run (gVisor).
const endingFor = 2 * time.Second

// signal sends a signal; that the process has ended meanwhile is no error.
func (l *life) signal(ctx context.Context, sig syscall.Signal) error {
	err := signal(ctx, l.live, sig)
	if err == nil {
		return nil
	}
	select {
	case <-l.end.done:
		return nil
	case <-time.After(endingFor):
		return err
	case <-ctx.Done():
		return err
	}
}

func signal(ctx context.Context, p client.Process, sig syscall.Signal) error {
	if err := p.Kill(ctx, sig); err != nil && !errdefs.IsNotFound(err) && !errdefs.IsFailedPrecondition(err) {
		return err
	}
	return nil
}
