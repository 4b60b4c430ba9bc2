package containerd

import (
	"context"
	"sync"
	"time"

	apievents "github.com/containerd/containerd/api/events"
	"github.com/containerd/containerd/v2/core/events"
	"github.com/containerd/typeurl/v2"

	"plimsoll/internal/measure/engine"
)

// oomWatch notes in which containers of ours the kernel killed for want of
// memory, by the daemon's events. Nothing is sent over it in normal life.
type oomWatch struct {
	cancel context.CancelFunc
	done   chan struct{}

	mu   sync.Mutex
	seen map[string]bool
}

func watchOOM(d *daemon) *oomWatch {
	ctx, cancel := context.WithCancel(context.Background())
	w := &oomWatch{cancel: cancel, done: make(chan struct{}), seen: map[string]bool{}}
	go w.follow(ctx, d)
	return w
}

// follow subscribes again when the daemon has gone away and come back.
func (w *oomWatch) follow(ctx context.Context, d *daemon) {
	defer close(w.done)
	for ctx.Err() == nil {
		envelopes, errs := d.Subscribe(ctx, `topic=="/tasks/oom",namespace==`+d.namespace)
		w.collect(envelopes, errs)
		engine.Pause(ctx, 200*time.Millisecond)
	}
}

func (w *oomWatch) collect(envelopes <-chan *events.Envelope, errs <-chan error) {
	for {
		select {
		case e := <-envelopes:
			if e == nil {
				return
			}
			if v, err := typeurl.UnmarshalAny(e.Event); err == nil {
				if oom, ok := v.(*apievents.TaskOOM); ok {
					w.mu.Lock()
					w.seen[oom.ContainerID] = true
					w.mu.Unlock()
				}
			}
		case <-errs: //nolint:errcheck // whatever it is, the subscription is over
			return
		}
	}
}

// killed says whether the kernel has killed in this container. The event comes
// by another way than the exit, and may come later.
func (w *oomWatch) killed(ctx context.Context, id string) bool {
	for end := time.Now().Add(500 * time.Millisecond); ; {
		w.mu.Lock()
		seen := w.seen[id]
		w.mu.Unlock()
		if seen || time.Now().After(end) {
			return seen
		}
		if !engine.Pause(ctx, 10*time.Millisecond) {
			return false
		}
	}
}

func (w *oomWatch) close(context.Context) error {
	w.cancel()
	<-w.done
	return nil
}
