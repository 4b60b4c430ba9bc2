package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/engine/wrap"
	"plimsoll/internal/record"
)

// held is a container that runs, in a pod of its own or in another's.
type held struct {
	env   *environment
	l     *life
	place engine.Place
	stop  context.CancelFunc
	oom   func() bool
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
	l, f := env.prepared(ctx, task)
	if f != nil {
		return nil, &engine.Error{Class: f.Class, Text: f.Text}
	}
	if err := env.enter(task); err != nil {
		return nil, err
	}
	l.held = true
	stay, cancel := context.WithCancel(context.WithoutCancel(ctx))
	h := &held{env: env, l: l, stop: cancel, oom: wrap.HostOOMWatch()}
	up, done := context.WithTimeout(ctx, l.task.Limit)
	defer done()
	err := l.prepare()
	if err == nil {
		restore := stamp.Quiet()
		if err = l.up(up); err == nil {
			l.watch(stay)
			err = l.ready(up)
		}
		restore()
	}
	if err == nil {
		h.place, err = env.placeOf(up, l)
	}
	if err == nil {
		env.hold(h)
		return h, nil
	}
	cancel()
	res := env.conclude(l, h.oom, func() (engine.Result, bool) { return l.settle(up, err) })
	return nil, errors.Join(&engine.Error{Class: res.Failure.Class, Text: res.Failure.Text}, env.strike(task))
}

// placeOf asks the server for the pod's address and the container's process.
func (env *environment) placeOf(ctx context.Context, l *life) (engine.Place, error) {
	p := engine.Place{Address: "127.0.0.1"}
	if l.settings.network != "host" {
		r, err := l.s.runtime.PodSandboxStatus(ctx, &v1.PodSandboxStatusRequest{PodSandboxId: l.pod})
		if err != nil {
			return p, l.s.wrong("asking for the pod's address", err)
		}
		switch p.Address = r.GetStatus().GetNetwork().GetIp(); {
		case p.Address == "":
			p.NoAddress = "the CRI server gave the pod no address"
		case env.unreached != "":
			p.Address, p.NoAddress = "", env.unreached
		}
	}
	r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr, Verbose: true})
	if err != nil {
		return p, l.s.wrong("asking for the container's process", err)
	}
	var info struct{ Pid int }
	if json.Unmarshal([]byte(r.GetInfo()["info"]), &info) == nil && env.facts["kernel"] == "host" {
		p.PID = info.Pid
	}
	return p, nil
}

// Place is documented in engine.Held.
func (h *held) Place() engine.Place { return h.place }

// Output is documented in engine.Held.
func (h *held) Output() (stdout, stderr []byte) { return h.l.log.out.Kept(), h.l.log.err.Kept() }

// Ended is documented in engine.Held.
func (h *held) Ended() <-chan struct{} { return h.l.end.over }

// endLimit bounds End, beside the grace.
const endLimit = 30 * time.Second

// End is documented in engine.Held.
func (h *held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.finish(func() error {
		l := h.l
		l.task.Limit, l.task.Stop = stop.Grace+endLimit, nil
		ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
		defer cancel()
		restore := stamp.Quiet()
		defer restore()
		select {
		case <-l.end.over:
		default:
			l.task.Stop = &stop
			if err := l.stop(ctx, stop.Grace); err != nil {
				return h.judged(ctx, err)
			}
		}
		if err := l.wait(ctx); err != nil {
			return h.judged(ctx, err)
		}
		if err := l.down(ctx); err != nil {
			return h.judged(ctx, err)
		}
		return nil
	})
	return h.res, h.err
}

// judged is an error as the failure that it is, while it is known whether time is over.
func (h *held) judged(ctx context.Context, err error) error {
	f := h.l.judge(ctx, err)
	return &engine.Error{Class: f.Class, Text: f.Text}
}

// finish ends a held container in some way, once.
func (h *held) finish(how func() error) {
	h.once.Do(func() {
		defer h.env.letGo(h)
		defer h.stop()
		err := how()
		h.res = h.env.conclude(h.l, h.oom, func() (engine.Result, bool) { return h.l.settle(context.Background(), err) })
		h.err = h.env.strike(h.l.task)
	})
}

var errForgotten = errors.New("its holder has not ended it")

// endHeld removes what its holder has forgotten.
func (env *environment) endHeld() {
	env.mu.Lock()
	var all []*held
	for h := range env.holding {
		all = append(all, h)
	}
	env.mu.Unlock()
	for _, h := range all {
		h.finish(func() error { return errForgotten })
	}
}

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

// Daemons is documented in engine.Daemons.
func (env *environment) Daemons(context.Context) (sockets []string, pids []int) {
	return []string{env.s.path}, nil
}

// prepared is a life that can begin, or why it can't.
func (env *environment) prepared(ctx context.Context, task engine.Task) (*life, *record.Failure) {
	if err := ctx.Err(); err != nil {
		return nil, &record.Failure{Class: record.HarnessError, Text: fmt.Sprintf("starting %s: %v", task.Name, err)}
	}
	if f := env.ready(ctx); f != nil {
		return nil, f
	}
	l := env.life(task)
	if task.Beside != nil {
		h, ok := task.Beside.(*held)
		if !ok || h.env != env {
			return nil, &record.Failure{Class: record.HarnessError, Text: "beside a container of another environment"}
		}
		l.beside = h.l
	}
	return l, nil
}
