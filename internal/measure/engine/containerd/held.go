package containerd

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// held is a container that runs.
type held struct {
	env    *environment
	l      *life
	cancel context.CancelFunc // of the wait for its end
	once   sync.Once
	res    engine.Result
	err    error
}

var (
	_ engine.Holder   = (*environment)(nil)
	_ engine.Daemons  = (*environment)(nil)
	_ engine.Executor = (*held)(nil)
)

// Hold is documented in engine.Holder.
func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if env.cli != nil {
		return env.holdCLI(ctx, task)
	}
	if f := env.ready(ctx); f != nil {
		return nil, failed(f)
	}
	l, f := env.life(task)
	if f != nil {
		return nil, failed(f)
	}
	if f := env.taken(task.Name); f != nil {
		return nil, failed(f)
	}
	if err := env.enter(task.Name); err != nil {
		return nil, err
	}
	stay, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h := &held{env: env, l: l, cancel: cancel}
	up, done := context.WithTimeout(ctx, task.Limit)
	defer done()
	l.begin()
	restore := stamp.Quiet()
	err := l.up(up, stay)
	if err == nil {
		err = l.ready(up)
	}
	restore()
	if err == nil {
		env.hold(h)
		return h, nil
	}
	defer cancel()
	over := l.end != nil && closed(l.end.over) && l.end.err == nil
	if over {
		l.res.Exit = &l.end.status
	}
	res := env.conclude(up, l, err)
	if over && res.Failure.Class == record.Crash {
		res.Failure.Text += fmt.Sprintf(" (exit status %d, stderr %q)", *res.Exit, res.Stderr)
	}
	return nil, errors.Join(failed(res.Failure), env.strike(task.Name))
}

func failed(f *record.Failure) error { return &engine.Error{Class: f.Class, Text: f.Text} }

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Place is documented in engine.Held.
func (h *held) Place() engine.Place {
	p := h.env.place(h.l.address)
	if !h.env.runtime.foreign { // else the payload is a process of another kernel
		p.PID = int(h.l.live.Pid())
	}
	return p
}

// place is where a container with an address is, or one without.
func (env *environment) place(address string) engine.Place {
	p := engine.Place{Address: address}
	if address == "" {
		p.NoAddress = "the container has no network but its own loopback (network=none)"
		if why := env.facts["network-reason"]; why != "" {
			p.NoAddress += ": " + why
		}
	}
	return p
}

// Output is documented in engine.Held.
func (h *held) Output() (stdout, stderr []byte) { return h.l.stdout.Kept(), h.l.stderr.Kept() }

// Ended is documented in engine.Held.
func (h *held) Ended() <-chan struct{} { return h.l.end.over }

// endLimit bounds End, beside the grace.
const endLimit = 30 * time.Second

// End is documented in engine.Held.
func (h *held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.once.Do(func() {
		l := h.l
		defer h.cancel()
		defer h.env.letGo(h)
		l.task.Limit = stop.Grace + endLimit
		ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
		defer cancel()
		restore := stamp.Quiet()
		var err error
		if !closed(l.end.done) {
			l.task.Stop = &stop
			err = l.stop(ctx, stop.Grace)
		} else {
			l.task.Stop = nil
		}
		if err == nil {
			err = l.down(ctx)
		}
		restore()
		h.res = h.env.conclude(ctx, l, err)
		h.err = h.env.strike(l.task.Name)
	})
	return h.res, h.err
}

// hold and letGo keep account of what Close would have to end.
func (env *environment) hold(h *held) {
	env.mu.Lock()
	defer env.mu.Unlock()
	env.holding[h] = true
}

func (env *environment) letGo(h *held) {
	env.mu.Lock()
	defer env.mu.Unlock()
	delete(env.holding, h)
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
		h.once.Do(func() {
			defer h.cancel()
			h.res = h.env.conclude(ctx, h.l, errForgotten)
			h.err = h.env.strike(h.l.task.Name)
		})
	}
}

// Daemons is documented in engine.Daemons.
func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	return []string{env.d.socket}, nil
}
