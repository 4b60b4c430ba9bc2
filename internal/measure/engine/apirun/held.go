package apirun

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// endLimit bounds the end of a held container, beside its grace.
const endLimit = 30 * time.Second

// Held is a container that was started by the API and runs.
type Held struct {
	b     *Base
	c     Container
	place engine.Place
	leave context.CancelFunc // ends what is waited for beside it
	over  chan struct{}      // closed when it has ended, or leave was called

	ending sync.Once
	res    engine.Result
	err    error
}

var _ engine.Executor = (*Held)(nil)

// Hold is engine.Holder's.
func (b *Base) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	c, f, err := b.prepare(ctx, task)
	if f != nil {
		err = Refusal(task, f)
	}
	if err != nil {
		return nil, err
	}
	h, f := b.hold(ctx, c)
	if f == nil {
		return h, nil
	}
	err = errors.Join(Refusal(task, f), b.Strike(task.Name))
	if ctx.Err() != nil {
		err = errors.Join(fmt.Errorf("holding %s: %w", task.Name, ctx.Err()), err)
	}
	return nil, err
}

// AdmitHeld is Admit for a container that is to be held, by whichever client.
func (b *Base) AdmitHeld(ctx context.Context, task engine.Task) error {
	f, err := b.Admit(ctx, task)
	if f != nil {
		return Refusal(task, f)
	}
	return err
}

// Refusal is a failure as the error of Hold.
func Refusal(task engine.Task, f *record.Failure) error {
	return &engine.Error{Class: f.Class, Text: "holding " + task.Name + ": " + f.Text}
}

func (b *Base) hold(ctx context.Context, c Container) (*Held, *record.Failure) {
	stay, leave := context.WithCancel(context.WithoutCancel(ctx))
	l := c.life()
	l.holding, l.begun = true, true
	ctx, cancel := context.WithTimeout(ctx, l.limit)
	defer cancel()

	restore := stamp.Quiet()
	err := c.Up(ctx, stay)
	if err == nil {
		err = ready(ctx, c)
	}
	restore()

	h := &Held{b: b, c: c, leave: leave, over: make(chan struct{})}
	if err == nil {
		l.phase = "asking where the container is"
		h.place, err = c.Place(ctx)
	}
	if err != nil {
		defer leave()
		return nil, b.conclude(ctx, c, err).Failure
	}
	go func() {
		defer close(h.over)
		_ = l.Await(stay) // whatever came of it
	}()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.find(l.Task.Name).held = h
	return h, nil
}

// Container is what is held.
func (h *Held) Container() Container { return h.c }

// ContainerName is its name.
func (h *Held) ContainerName() string { return h.c.life().Task.Name }

func (h *Held) Place() engine.Place { return h.place }

func (h *Held) Output() (stdout, stderr []byte) {
	return h.c.life().Stdout.Kept(), h.c.life().Stderr.Kept()
}

// Ended is also closed when the connection to the engine breaks: nothing would
// report the container's end then.
func (h *Held) Ended() <-chan struct{} { return h.over }

func (h *Held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.finish(ctx, stop.Grace+endLimit, func(ctx context.Context) error {
		return h.end(ctx, stop)
	})
	return h.res, h.err
}

// end is the measured path of the end.
func (h *Held) end(ctx context.Context, s engine.Stop) error {
	if !closed(h.c.life().End.Told) {
		if err := stop(ctx, h.c, s); err != nil {
			return err
		}
	}
	return finish(ctx, h.c)
}

// forgotten removes what its holder has not ended.
func (h *Held) forgotten(ctx context.Context) {
	h.finish(ctx, endLimit, func(context.Context) error {
		h.c.life().phase = "closing the environment"
		return errForgotten
	})
}

// finish ends a held container in some way, once.
func (h *Held) finish(ctx context.Context, limit time.Duration, how func(context.Context) error) {
	h.ending.Do(func() {
		l, caller := h.c.life(), ctx
		l.limit, l.holding = limit, false // what a failure says
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		restore := stamp.Quiet()
		err := how(ctx)
		restore()
		h.res = h.b.conclude(ctx, h.c, err)
		h.leave()
		<-h.over
		h.err = h.b.Strike(l.Task.Name)
		if caller.Err() != nil {
			h.err = errors.Join(h.err, fmt.Errorf("ending %s: %w", l.Task.Name, caller.Err()))
		}
	})
}

func (h *Held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("executing %s: %w", task.Name, err)
	}
	p, f := h.c.Program(task, h.place)
	if f != nil {
		return engine.Result{Failure: f}, nil
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l := p.life()

	restore := stamp.Quiet()
	err := p.Up(within, within)
	if err == nil {
		if err = p.Await(within); err == nil && l.End != nil {
			l.ended()
		}
	}
	restore()

	if err != nil {
		l.Res.Failure = h.b.judge(within, l, err)
		// Most engines leave a program alone whose streams are closed.
		adapter.KillInside(h.place.PID, task.Argv)
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterLimit)
	defer cancel()
	h.b.gather(after, p)
	if ctx.Err() != nil {
		return l.Res, fmt.Errorf("executing %s: %w", task.Name, ctx.Err())
	}
	return l.Res, nil
}
