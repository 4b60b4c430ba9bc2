package run

import (
	"context"
	"sync"
	"time"
)

// opening is the context of an environment's opening: it ends by a time limit,
// which the adapter may have lengthened by what it says will take long.
type opening struct {
	context.Context // the run's
	done            chan struct{}

	mu    sync.Mutex
	err   error
	limit time.Duration // in all
	until time.Time
	timer *time.Timer
	stop  func() bool
}

// newOpening must be ended by end.
func newOpening(ctx context.Context, limit time.Duration) *opening {
	o := &opening{Context: ctx, done: make(chan struct{}), limit: limit, until: time.Now().Add(limit)}
	o.timer = time.AfterFunc(limit, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if !time.Now().Before(o.until) { // else it was lengthened at this moment
			o.over(context.DeadlineExceeded)
		}
	})
	o.stop = context.AfterFunc(ctx, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.over(ctx.Err())
	})
	return o
}

// over ends it, with the lock held.
func (o *opening) over(err error) {
	if o.err == nil {
		o.err = err
		close(o.done)
	}
}

// lengthen gives it more time.
func (o *opening) lengthen(by time.Duration) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.limit += by
	o.until = o.until.Add(by)
	o.timer.Reset(time.Until(o.until))
}

// end releases it.
func (o *opening) end() {
	o.timer.Stop()
	o.stop()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over(context.Canceled)
}

func (o *opening) Deadline() (time.Time, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.until, true
}

func (o *opening) Done() <-chan struct{} { return o.done }

func (o *opening) Err() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// most is its limit, with what it was lengthened by.
func (o *opening) most() time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.limit
}
