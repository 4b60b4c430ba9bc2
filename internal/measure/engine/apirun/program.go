package apirun

import (
	"context"
	"time"

	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// AwaitStatus reads a program's output to its end, and then asks every
// millisecond for its status, until it has ended: an API that does not tell of
// the end tells the status a moment after the output has ended, or later where a
// child that lives on has closed it.
func (l *Life) AwaitStatus(ctx context.Context, ask func() (running bool, status int, err error)) error {
	l.phase = "waiting for the end of the execution"
	select {
	case <-l.Drain.Done:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.Step("output ended", l.Drain.At)
	for {
		running, status, err := ask()
		at := stamp.Now()
		if err != nil {
			return err
		}
		if !running {
			l.Res.Events[record.Exit], l.Res.Exit = at, &status
			return nil
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
