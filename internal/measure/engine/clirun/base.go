package clirun

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Base is what the environments of all engines that are started by commands
// have in common: launchers, the cgroup around them, and the facts.
type Base struct {
	Kit   *engine.Kit
	Spec  engine.Spec
	Group *cgroup.Cgroup // nil where the engine limits by itself
	adapter.FactSheet

	mu    sync.Mutex
	proof map[string]string // what the container of Prove saw
	pool  pool

	holding map[*Held]bool
}

// NewBase prepares an environment. With around, limits are put on by a cgroup
// of ours around the launcher, and the facts say so; without it the engine is
// expected to, and the adapter adds the fact itself.
func NewBase(ctx context.Context, kit *engine.Kit, spec engine.Spec, around bool) (*Base, error) {
	b := &Base{Kit: kit, Spec: spec}
	b.pool.start = func(ctx context.Context) (*probe.Launcher, error) {
		l, err := kit.Launcher(ctx, probe.Options{Cgroups: b.Group.Procs(), Env: kit.MarkEnv()})
		if err != nil {
			return nil, fmt.Errorf("starting a launcher for %s: %w", spec.ID, err)
		}
		return l, nil
	}
	if around {
		g, err := cgroup.New(kit, spec.ID, spec.Limits)
		if err != nil {
			return nil, err
		}
		b.Group = g
		b.AddFacts(g.Facts())
	}
	l, err := b.pool.take(ctx)
	if err != nil {
		return nil, errors.Join(err, b.Close(ctx))
	}
	b.pool.give(l)
	return b, nil
}

// Keep notes what the container of the proof saw, for Proof.
func (b *Base) Keep(report map[string]string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.proof = report
}

func (b *Base) Proof() map[string]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return maps.Clone(b.proof)
}

func (b *Base) Throttled() (time.Duration, bool) { return b.Group.Throttled() }

// Run carries a plan out; several goroutines may. A launcher that broke fails
// the trial and is replaced, so that the next trial has one; an error means
// that there is none to be had, or that ctx is over.
func (b *Base) Run(ctx context.Context, p Plan) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("running %s: %w", p.Task.Name, err)
	}
	l, err := b.pool.take(ctx)
	if err != nil {
		return engine.Result{}, err
	}
	b.watchOOM(&p)
	runner := runner(l)
	if p.Gentle > 0 {
		runner = gentle{l, &p}
	}
	res, err := run(ctx, runner, p)
	if err == nil {
		b.pool.give(l)
		return res, nil
	}
	if ctx.Err() != nil {
		b.pool.give(l)
		return engine.Result{}, fmt.Errorf("running %s: %w", p.Task.Name, err)
	}
	return broken("running "+p.Task.Name, err, b.pool.drop(l)), nil
}

// watchOOM sees to it that somebody tells of kills for want of memory from now on: our
// cgroup around the launcher where it can, else the host.
func (b *Base) watchOOM(p *Plan) {
	switch {
	case p.OOM != nil:
	case b.Group.TellsOOM():
		p.OOM = b.Group.OOMWatch()
	default:
		p.OOM = cgroup.HostOOMWatch()
	}
}

// broken is the result of a trial whose launcher failed.
func broken(what string, err, closing error) engine.Result {
	return engine.Result{Failure: &record.Failure{Class: record.HarnessError,
		Text: errors.Join(fmt.Errorf("%s: %w", what, err), closing).Error()}}
}

// Exchange holds the clock exchange by one command on the launcher.
func (b *Base) Exchange(ctx context.Context, task engine.Task, cmd probe.Command, rounds int) ([]probe.Exchange, error) {
	return b.ExchangePlan(ctx, Plan{Task: task, Steps: []Step{{Cmd: cmd}}}, rounds)
}

// ExchangePlan holds the clock exchange with the payload of a plan.
func (b *Base) ExchangePlan(ctx context.Context, p Plan, rounds int) ([]probe.Exchange, error) {
	task, cmd := p.Task, &p.Steps[p.Payload].Cmd
	cmd.Calibrate, cmd.Stdin = rounds, probe.StdinPipe
	l, err := b.pool.take(ctx)
	if err != nil {
		return nil, err
	}
	job, err := l.Run(ctx, p.job())
	if err != nil {
		err = fmt.Errorf("exchanging clocks with %s: %w", task.Name, err)
		if ctx.Err() == nil {
			return nil, errors.Join(err, b.pool.drop(l))
		}
	}
	b.pool.give(l)
	if err != nil {
		return nil, err
	}
	f := p.failure(job)
	if len(job.Offsets) < rounds || f != nil {
		text := fmt.Sprintf("exchanging clocks with %s: %d of %d rounds came back", task.Name, len(job.Offsets), rounds)
		if f != nil {
			text += ": " + f.Text
		}
		return nil, errors.New(text)
	}
	return job.Offsets, nil
}

// EndHeld ends what its holders have forgotten, at once. An adapter calls it
// before it takes anything away that held containers use.
func (b *Base) EndHeld(ctx context.Context) error {
	b.mu.Lock()
	all := slices.Collect(maps.Keys(b.holding))
	b.mu.Unlock()
	var errs []error
	for _, h := range all {
		errs = append(errs, h.forget(ctx))
	}
	return errors.Join(errs...)
}

func (b *Base) held(h *Held, is bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.holding == nil {
		b.holding = map[*Held]bool{}
	}
	if is {
		b.holding[h] = true
	} else {
		delete(b.holding, h)
	}
}

// Close ends what is still held, then the launchers with all of theirs, and
// removes the cgroup. It is safe to call twice.
func (b *Base) Close(ctx context.Context) error {
	return errors.Join(b.EndHeld(ctx), b.pool.close(), b.Group.Remove(ctx))
}
