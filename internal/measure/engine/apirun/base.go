package apirun

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Base is what the environments of all engines with an API have in common: the
// containers that there are, and what is owed to the ledger.
type Base struct {
	adapter.FactSheet
	d      Daemon
	ledger engine.Ledger

	mu   sync.Mutex
	open []*entry // in the order in which they were entered
}

// entry is a container that may be there.
type entry struct {
	task engine.Task
	left bool  // it could not be removed; it is before the next trial
	held *Held // where it is held by the API
}

// NewBase makes the base of an environment.
func NewBase(d Daemon, ledger engine.Ledger) *Base { return &Base{d: d, ledger: ledger} }

// Run is engine.Environment's.
func (b *Base) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	c, f, err := b.prepare(ctx, task)
	if f != nil || err != nil {
		return engine.Result{Failure: f}, err
	}
	return b.struck(ctx, task, b.Carry(ctx, c), nil)
}

// prepare makes a container's life ready and enters it in the ledger. What can't
// be had must not be in there: it may be somebody else's.
func (b *Base) prepare(ctx context.Context, task engine.Task) (Container, *record.Failure, error) {
	if f, err := b.admit(ctx, task); f != nil || err != nil {
		return nil, f, err
	}
	c, f := b.d.Prepare(ctx, task)
	if f != nil {
		return nil, f, nil
	}
	if err := b.enter(task); err != nil {
		c.Release(ctx)
		return nil, nil, err
	}
	return c, nil, nil
}

// struck is the end of a trial.
func (b *Base) struck(ctx context.Context, task engine.Task, res engine.Result, err error) (engine.Result, error) {
	if err == nil && ctx.Err() != nil {
		err = fmt.Errorf("running %s: %w", task.Name, ctx.Err())
	}
	return res, errors.Join(err, b.Strike(task.Name))
}

// Carry carries a container's life out.
func (b *Base) Carry(ctx context.Context, c Container) engine.Result {
	ctx, cancel := context.WithTimeout(ctx, c.life().limit)
	defer cancel()
	restore := stamp.Quiet()
	err := live(ctx, c)
	restore()
	return b.conclude(ctx, c, err)
}

// Account is around a trial, whichever client carries it out: it sees to it that
// the engine answers, and keeps the ledger.
func (b *Base) Account(ctx context.Context, task engine.Task, run func() (engine.Result, error)) (engine.Result, error) {
	if f, err := b.Admit(ctx, task); f != nil || err != nil {
		return engine.Result{Failure: f}, err
	}
	res, err := run()
	return b.struck(ctx, task, res, err)
}

// Exchange is around a clock exchange by commands that leave a container.
func (b *Base) Exchange(ctx context.Context, task engine.Task, hold func() ([]probe.Exchange, error)) ([]probe.Exchange, error) {
	f, err := b.Admit(ctx, task)
	if err != nil {
		return nil, err
	}
	if f != nil {
		return nil, fmt.Errorf("exchanging clocks with %s: %s", task.Name, f.Text)
	}
	offsets, err := hold()
	b.Clear(context.WithoutCancel(ctx), task, &engine.Result{})
	return offsets, errors.Join(err, b.Strike(task.Name))
}

// Admit is what comes before a container is asked for. Where there is neither a
// failure nor an error it is in the ledger, to be struck out.
func (b *Base) Admit(ctx context.Context, task engine.Task) (*record.Failure, error) {
	if f, err := b.admit(ctx, task); f != nil || err != nil {
		return f, err
	}
	return nil, b.enter(task)
}

// admit sees to it that the engine answers.
func (b *Base) admit(ctx context.Context, task engine.Task) (*record.Failure, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", task.Name, err)
	}
	if !task.Checked {
		if f := b.Ready(ctx); f != nil {
			return f, nil
		}
	}
	return nil, nil
}

// enter tells the ledger of a container before its request.
func (b *Base) enter(task engine.Task) error {
	if t := b.d.Thing(task); t != nil {
		if err := b.ledger.Made(*t); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = append(b.open, &entry{task: task})
	return nil
}

// find gives the entry of a container; b.mu is held.
func (b *Base) find(name string) *entry {
	if i := slices.IndexFunc(b.open, func(e *entry) bool { return e.task.Name == name }); i >= 0 {
		return b.open[i]
	}
	return nil
}

// Strike tells the ledger that a container is gone, unless it is still to be
// removed.
func (b *Base) Strike(name string) error {
	b.mu.Lock()
	e := b.find(name)
	if e == nil || e.left {
		b.mu.Unlock()
		return nil
	}
	b.open = slices.DeleteFunc(b.open, func(o *entry) bool { return o == e })
	b.mu.Unlock()
	if t := b.d.Thing(e.task); t != nil {
		return b.ledger.Gone(*t)
	}
	return nil
}

// Later notes that a container is still to be removed.
func (b *Base) Later(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.find(name); e != nil {
		e.left = true
	}
}

// readyLimit bounds what is done before a trial.
const readyLimit = 20 * time.Second

func (b *Base) Ready(ctx context.Context) *record.Failure {
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	if err := b.d.Ping(ctx); err != nil {
		return b.failure("before the trial", err)
	}
	b.mu.Lock()
	var left []*entry
	for _, e := range b.open {
		if e.left {
			e.left = false
			left = append(left, e)
		}
	}
	b.mu.Unlock()
	for i, e := range left {
		if err := b.remove(ctx, e.task); err != nil {
			for _, e := range left[i:] {
				b.Later(e.task.Name)
			}
			return &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("before the trial: %v", err)}
		}
	}
	return nil
}

func (b *Base) remove(ctx context.Context, task engine.Task) error {
	if err := b.d.Remove(ctx, task); err != nil {
		return err
	}
	return b.Strike(task.Name)
}

// Close removes what could not be removed before, and what its holder has not
// ended, the last one first: it may be in another's pod.
func (b *Base) Close(ctx context.Context) error {
	b.mu.Lock()
	open := slices.Clone(b.open)
	b.mu.Unlock()
	var errs []error
	for _, e := range slices.Backward(open) {
		if e.held != nil {
			e.held.forgotten(ctx)
		}
		b.mu.Lock()
		e.left = false
		still := b.find(e.task.Name) == e
		b.mu.Unlock()
		if still {
			errs = append(errs, b.remove(ctx, e.task))
		}
	}
	return errors.Join(errs...)
}
