package containerd

import (
	"context"
	"syscall"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// Stop sends SIGTERM, waits for the grace and sends SIGKILL, as containerd's
// clients do: the daemon has no stop.
func (l *life) Stop(ctx context.Context, stop engine.Stop) error {
	timer := time.NewTimer(stop.Grace)
	defer timer.Stop()
	if err := l.signal(ctx, syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-timer.C:
		if err := l.signal(ctx, syscall.SIGKILL); err != nil {
			return err
		}
	case <-l.End.Told:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.End.Told:
		l.Res.Events[record.Stopped] = l.End.At
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
	case <-l.End.Told:
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
