package lxd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/engine/wrap"
	"plimsoll/internal/record"
)

// held is a system container with the payload in it. It ends with the payload,
// or is stopped.
type held struct {
	env   *environment
	l     *life
	place engine.Place
	init  int // the container's, outside
	once  sync.Once
	res   engine.Result
	err   error
}

var (
	_ engine.Holder   = (*environment)(nil)
	_ engine.Daemons  = (*environment)(nil)
	_ engine.Executor = (*held)(nil)
)

// Hold is documented in engine.Holder.
func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	fail := func(f *record.Failure) (engine.Held, error) {
		return nil, &engine.Error{Class: f.Class, Text: f.Text}
	}
	if f := env.prepare(ctx, task); f != nil {
		return fail(f)
	}
	if env.cli != nil {
		return env.holdCLI(ctx, task)
	}
	if err := env.enter(task.Name); err != nil {
		return nil, err
	}
	l := env.life(task)
	up, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l.begin()
	restore := stamp.Quiet()
	err := l.up(up)
	if err == nil {
		err = l.ready(up)
	}
	restore()
	h := &held{env: env, l: l}
	if err == nil {
		err = h.find(up)
	}
	if err != nil {
		f := env.conclude(up, l, err).Failure
		return nil, errors.Join(&engine.Error{Class: f.Class, Text: f.Text}, env.leave(task.Name))
	}
	env.mu.Lock()
	defer env.mu.Unlock()
	env.holding[h] = true
	return h, nil
}

// find finds the payload by the container's init, which the daemon tells.
func (h *held) find(ctx context.Context) error {
	h.place.Address = h.l.address
	if h.l.address == "" {
		h.place.NoAddress = h.env.noAddress
	}
	if h.init = h.l.d.initOf(ctx, h.l.task.Name); h.init == 0 {
		return errors.New("the daemon does not tell the container's init")
	}
	h.place.PID = adapter.Inside(h.init, h.l.task.Argv)
	return nil
}

// initOf is the pid of a container's init, outside; 0 where it is not told.
func (d *daemon) initOf(ctx context.Context, name string) int {
	var state struct{ Pid int }
	_ = d.get(ctx, "/1.0/instances/"+name+"/state", &state) // then it stays 0
	return state.Pid
}

// Place is documented in engine.Held.
func (h *held) Place() engine.Place { return h.place }

// Output is documented in engine.Held.
func (h *held) Output() (stdout, stderr []byte) { return h.l.x.stdout.Kept(), h.l.x.stderr.Kept() }

// Ended is documented in engine.Held.
func (h *held) Ended() <-chan struct{} { return h.l.x.over }

// endLimit bounds End, beside the grace.
const endLimit = 30 * time.Second

// End is documented in engine.Held.
func (h *held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.finish(ctx, stop.Grace+endLimit, func(ctx context.Context) error {
		select {
		case <-h.l.x.over:
		default:
			h.l.task.Stop = &stop
			if err := h.l.stop(ctx, stop.Grace); err != nil {
				return err
			}
		}
		return h.l.down(ctx)
	})
	return h.res, h.err
}

// finish ends a held container in some way, once.
func (h *held) finish(ctx context.Context, limit time.Duration, how func(context.Context) error) {
	h.once.Do(func() {
		h.l.task.Limit, h.l.task.Stop = limit, nil
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		restore := stamp.Quiet()
		err := how(ctx)
		restore()
		h.res = h.env.conclude(ctx, h.l, err)
		h.err = h.env.leave(h.l.task.Name)
		h.env.mu.Lock()
		defer h.env.mu.Unlock()
		delete(h.env.holding, h)
	})
}

var errForgotten = errors.New("its holder has not ended it")

// endHeld removes what its holder has forgotten.
func (env *environment) endHeld(ctx context.Context) {
	env.mu.Lock()
	var all []*held
	for h := range env.holding {
		all = append(all, h)
	}
	env.mu.Unlock()
	for _, h := range all {
		h.finish(ctx, endLimit, func(context.Context) error { return errForgotten })
	}
}

// Exec is documented in engine.Executor.
func (h *held) Exec(ctx context.Context, task engine.Task) (res engine.Result, err error) {
	if err := ctx.Err(); err != nil {
		return res, fmt.Errorf("executing %s: %w", task.Name, err)
	}
	limit, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l := &life{d: h.l.d, task: task, oom: wrap.HostOOMWatch(), phase: "executing the program"}
	l.task.Stop = nil
	l.res.Events = make(map[record.Event]int64, 4)
	restore := stamp.Quiet()
	l.res.Events[record.Request] = stamp.Now()
	l.res.Events[record.Exec] = l.res.Events[record.Request]
	if l.x, err = l.d.exec(limit, h.l.task.Name, task, nil); err == nil {
		err = l.end(limit)
	}
	restore()
	if err != nil && l.x != nil {
		// The daemon ends no program when its streams are closed.
		adapter.KillInside(h.init, task.Argv)
	}
	res, _ = l.settle(limit, err)
	if ctx.Err() != nil {
		return res, fmt.Errorf("executing %s: %w", task.Name, ctx.Err())
	}
	return res, nil
}

// Daemons is documented in engine.Daemons.
func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	return []string{env.d.socket}, nil
}
