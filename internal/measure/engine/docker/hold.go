package docker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// endLimit bounds the end of a held container, beside its grace.
const endLimit = 30 * time.Second

// held is a container that was started by the API and runs.
type held struct {
	env   *environment
	life  *life
	place engine.Place
	began time.Time
	leave context.CancelFunc // ends the attachment and the wait

	ending sync.Once
	res    engine.Result
	err    error
}

// named is a held container of this package: what another one can be put
// beside, and what a program can be executed in.
type named interface{ containerName() string }

func (h *held) containerName() string { return h.life.task.Name }

// Hold is documented in engine.Holder.
func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("holding %s: %w", task.Name, err)
	}
	if f := env.before(ctx, task); f != nil {
		return nil, refusal(task, f)
	}
	if err := env.enter(task.Name); err != nil {
		return nil, err
	}
	began := time.Now()
	if env.byCLI {
		return env.holdCLI(ctx, task, began)
	}
	return env.holdAPI(ctx, task, began)
}

// refusal is a failure as the error of Hold.
func refusal(task engine.Task, f *record.Failure) error {
	return &engine.Error{Class: f.Class, Text: "holding " + task.Name + ": " + f.Text}
}

func (env *environment) holdAPI(ctx context.Context, task engine.Task, began time.Time) (engine.Held, error) {
	stay, leave := context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l := &life{d: env.d, task: task, create: env.settings.options(task), holding: true}

	restore := stamp.Quiet()
	err := l.begin(ctx, stay)
	if err == nil {
		err = l.ready(ctx)
	}
	restore()

	if err != nil {
		f := l.judge(ctx, err)
		if errors.Is(err, errNotReady) {
			f = l.early(ctx, env, began)
		}
		l.res.Failure = f
		if _, left := l.over(ctx); left {
			env.later(task.Name)
		}
		leave()
		return nil, errors.Join(refusal(task, f), env.strike(task.Name))
	}
	h := &held{env: env, life: l, began: began, leave: leave}
	h.place = env.placeOf(ctx, task)
	return h, nil
}

// early is the failure of a container that ended before its first byte.
func (l *life) early(ctx context.Context, env *environment, began time.Time) *record.Failure {
	f := &record.Failure{Class: record.Crash, Text: errNotReady.Error()}
	select {
	case <-l.end.done:
		if l.end.err == nil {
			f.Text += fmt.Sprintf(", with status %d", l.end.status)
		}
		if l.end.status == 137 && env.d.oomKilled(ctx, l.task.Name, began) {
			f = outOfMemory()
		}
	case <-ctx.Done():
	}
	f.Text += l.said()
	return f
}

// Place is documented in engine.Held.
func (h *held) Place() engine.Place { return h.place }

// Output is documented in engine.Held.
func (h *held) Output() (stdout, stderr []byte) {
	return h.life.out.stdout.Kept(), h.life.out.stderr.Kept()
}

// Ended is documented in engine.Held. It is closed too when the daemon breaks
// off, since nobody tells of the container any more.
func (h *held) Ended() <-chan struct{} { return h.life.end.done }

// End is documented in engine.Held.
func (h *held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.ending.Do(func() { h.res, h.err = h.end(ctx, stop) })
	return h.res, h.err
}

func (h *held) end(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	defer h.leave()
	l, env := h.life, h.env
	caller := ctx
	limit := stop.Grace + endLimit
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l.task.Limit = limit // what a failure says
	l.holding = false

	stopped := false
	var err error
	restore := stamp.Quiet()
	select {
	case <-l.end.done:
	default:
		stopped = true
		err = l.stop(ctx, stop)
	}
	if err == nil {
		err = l.finish(ctx)
	}
	restore()

	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	res, left := l.over(ctx)
	if left {
		env.later(l.task.Name)
	}
	if res.Failure == nil {
		if res.Exit != nil {
			res.Failure = adapter.SignalFailure(*res.Exit, stopped)
		}
		env.settle(context.WithoutCancel(caller), l.task, &res, h.began)
	}
	err = env.strike(l.task.Name)
	if caller.Err() != nil {
		err = errors.Join(err, fmt.Errorf("ending %s: %w", l.task.Name, caller.Err()))
	}
	return res, err
}

// placeOf asks the daemon where a container is. It is not measured.
func (env *environment) placeOf(ctx context.Context, task engine.Task) engine.Place {
	var p engine.Place
	res, err := env.d.ContainerInspect(ctx, task.Name, client.ContainerInspectOptions{})
	if err != nil {
		p.NoAddress = env.d.wrong("looking for the container's address", err).Error()
		return p
	}
	if s := res.Container.State; s != nil {
		p.PID = s.Pid
	}
	// Root's own daemon has its networks in the host's namespace; another's are
	// in one of RootlessKit's or of ours.
	p.Inner = env.d.own != nil || env.facts["rootless"] == "yes"
	switch {
	case task.Beside != nil:
		other := task.Beside.Place()
		p.Address, p.NoAddress, p.Inner = other.Address, other.NoAddress, other.Inner
		return p
	case env.settings.network == "host":
		p.Address = "127.0.0.1"
		return p
	case env.settings.network == "none":
		p.NoAddress = "a container with the network none has loopback only"
	case env.unreached != "":
		p.NoAddress = env.unreached
	case res.Container.NetworkSettings != nil:
		for _, n := range res.Container.NetworkSettings.Networks {
			if n.IPAddress.Is4() {
				p.Address = n.IPAddress.String()
				return p
			}
		}
		fallthrough
	default:
		p.NoAddress = "the daemon gave the container no IPv4 address"
	}
	p.Inner = false
	return p
}
