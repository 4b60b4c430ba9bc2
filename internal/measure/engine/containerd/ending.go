package containerd

import (
	"context"
	"errors"

	"github.com/containerd/containerd/v2/client"

	"plimsoll/internal/measure/engine/stamp"
)

// ending is the end of a process, told to whoever asks.
type ending struct {
	// done is closed when the wait's answer has come, over when all of the
	// output has, too.
	done, over chan struct{}

	ended // valid when done is closed; seen when over is
}

// ended is how an end came to us.
type ended struct {
	at     int64 // the wait's answer
	seen   int64 // that, or the end of the output, whichever was later
	status int
	err    error
}

// waiter is a task, or a process that was executed in one.
type waiter interface {
	Wait(ctx context.Context) (<-chan client.ExitStatus, error)
}

// watch registers the wait, and stamps the end when it reaches us. Where ctx is
// over before, or the daemon goes, the end is an error.
func watch(ctx context.Context, p waiter, io *fifos) (*ending, error) {
	w, err := p.Wait(ctx)
	if err != nil {
		return nil, err
	}
	e := &ending{done: make(chan struct{}), over: make(chan struct{})}
	go func() {
		s := <-w
		e.at = stamp.Now()
		e.status, e.err = int(s.ExitCode()), s.Error()
		close(e.done)
		if e.err == nil {
			select {
			case <-io.drained:
				e.seen = max(e.at, io.ended)
			case <-ctx.Done():
				e.err = ctx.Err()
			}
		}
		close(e.over)
	}()
	return e, nil
}

// await waits for the end.
func (e *ending) await(ctx context.Context) (ended, error) {
	select {
	case <-e.over:
		return e.ended, e.err
	case <-ctx.Done():
		return ended{}, ctx.Err()
	}
}

var errNotReady = errors.New("the payload ended before it had said anything")
