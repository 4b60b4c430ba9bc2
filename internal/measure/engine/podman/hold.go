package podman

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// endLimit bounds the end of a held container, beside its grace.
const endLimit = 30 * time.Second

// Hold is documented in engine.Holder.
func (env *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("holding %s: %w", task.Name, err)
	}
	if f := env.impossible(task); f != nil {
		return nil, refusalOf(task, f)
	}
	if err := env.Kit.Ledger.Made(env.p.thing(engine.KindContainer, task.Name)); err != nil {
		return nil, err
	}
	var held engine.Held
	var err error
	if env.byAPI {
		held, err = env.holdAPI(ctx, task)
	} else {
		held, err = env.holdCLI(ctx, task)
	}
	if err != nil && env.away(ctx, task.Name, &engine.Result{Failure: &record.Failure{}}) {
		err = errors.Join(err, env.Kit.Ledger.Gone(env.p.thing(engine.KindContainer, task.Name)))
	}
	return held, err
}

// refusalOf is a failure as the error of Hold.
func refusalOf(task engine.Task, f *record.Failure) error {
	return &engine.Error{Class: f.Class, Text: "holding " + task.Name + ": " + f.Text}
}

// heldAPI is a container that was started by the service and runs.
type heldAPI struct {
	env   *environment
	life  *restLife
	place engine.Place
	oom   func() bool
	leave context.CancelFunc // ends the attachment and the wait

	ending sync.Once
	res    engine.Result
	err    error
}

func (h *heldAPI) containerName() string { return h.life.task.Name }

func (env *environment) holdAPI(ctx context.Context, task engine.Task) (engine.Held, error) {
	if err := env.rest.answers(ctx); err != nil {
		return nil, refusalOf(task, &record.Failure{Class: restClass(err), Text: err.Error() + env.lost()})
	}
	body, err := env.settings.spec(task)
	if err != nil {
		return nil, err
	}
	h := &heldAPI{env: env, oom: env.oom()}
	var stay context.Context
	stay, h.leave = context.WithCancel(context.WithoutCancel(ctx))
	ctx, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l := &restLife{r: env.rest, task: task, body: body, holding: true}
	h.life = l

	restore := stamp.Quiet()
	err = l.begin(ctx, stay)
	if err == nil {
		l.watch(stay, true)
		err = l.ready(ctx)
	}
	restore()

	if err != nil {
		f := l.judge(ctx, err)
		if errors.Is(err, errNotReady) {
			f = l.early(ctx, h.oom)
		}
		f.Text += env.lost()
		l.res.Failure = f
		l.over()
		h.leave()
		return nil, errors.Join(refusalOf(task, f), env.remove(context.WithoutCancel(ctx), task.Name))
	}
	h.place = env.placeOf(ctx, task)
	return h, nil
}

// early is the failure of a container that ended before its first byte.
func (l *restLife) early(ctx context.Context, oom func() bool) *record.Failure {
	text := errNotReady.Error()
	select {
	case <-l.end.done:
		if l.end.err == nil {
			text += fmt.Sprintf(", with status %d", l.end.status)
			if f := signalFailure(l.end.status, false, oom); f != nil {
				return f
			}
		}
	case <-ctx.Done():
	}
	return &record.Failure{Class: record.Crash, Text: text + l.said()}
}

// Place is documented in engine.Held.
func (h *heldAPI) Place() engine.Place { return h.place }

// Output is documented in engine.Held.
func (h *heldAPI) Output() (stdout, stderr []byte) {
	return h.life.stdout.Kept(), h.life.stderr.Kept()
}

// Ended is documented in engine.Held. It is closed too when the service breaks
// off, since nobody tells of the container any more.
func (h *heldAPI) Ended() <-chan struct{} { return h.life.end.done }

// End is documented in engine.Held.
func (h *heldAPI) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.ending.Do(func() { h.res, h.err = h.end(ctx, stop) })
	return h.res, h.err
}

func (h *heldAPI) end(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	defer h.leave()
	l, env := h.life, h.env
	caller := ctx
	l.task.Limit, l.holding = stop.Grace+endLimit, false // what a failure says
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()

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
		l.res.Failure.Text += env.lost()
	}
	res := l.over()
	after := context.WithoutCancel(caller)
	if res.Failure == nil && res.Exit != nil {
		res.Failure = signalFailure(*res.Exit, stopped, h.oom)
	}
	err = nil
	if res.Events[record.Removed] == 0 {
		err = env.mop(after, l.task.Name, &res)
	} else if res.Failure == nil {
		env.settle(after, l.task.Name, &res)
	}
	if err == nil && env.away(after, l.task.Name, &res) {
		err = env.Kit.Ledger.Gone(env.p.thing(engine.KindContainer, l.task.Name))
	}
	if caller.Err() != nil {
		err = errors.Join(err, fmt.Errorf("ending %s: %w", l.task.Name, caller.Err()))
	}
	return res, err
}

// live is what is read of a container that runs.
type live struct {
	State           struct{ Pid int }
	NetworkSettings struct {
		IPAddress string
		Networks  map[string]struct{ IPAddress string }
	}
	HostConfig struct{ NetworkMode string }
}

// placeOf asks podman where a container is. It is not measured.
func (env *environment) placeOf(ctx context.Context, task engine.Task) (p engine.Place) {
	var seen live
	var err error
	if env.byAPI {
		err = env.rest.call(ctx, http.MethodGet, "/containers/"+task.Name+"/json", nil, nil, &seen)
	} else {
		var list []live
		if err = env.p.read(ctx, &list, "inspect", "--type", "container", task.Name); err == nil && len(list) == 1 {
			seen = list[0]
		}
	}
	if err != nil {
		p.NoAddress = "podman does not tell of the container: " + err.Error()
		return p
	}
	p.PID = seen.State.Pid
	if task.Beside != nil {
		other := task.Beside.Place()
		p.Address, p.NoAddress, p.Inner = other.Address, other.NoAddress, other.Inner
		return p
	}
	for _, n := range seen.NetworkSettings.Networks {
		if p.Address = n.IPAddress; p.Address != "" {
			break
		}
	}
	if p.Address == "" {
		p.Address = seen.NetworkSettings.IPAddress
	}
	switch mode := seen.HostConfig.NetworkMode; {
	case mode == "host":
		p.Address = "127.0.0.1"
	case p.Address != "" && env.unreached != "":
		p.Address, p.NoAddress = "", env.unreached
	case p.Address != "":
		p.Inner = env.p.user != nil // all of the user's bridges lie in one namespace of podman's
	case mode == "none":
		p.NoAddress = "a container with the network none has loopback only"
	case mode == "slirp4netns" || mode == "pasta":
		p.NoAddress = "with " + mode + " each container has a network of its own, which no other reaches (network: bridge has addresses)"
	default:
		p.NoAddress = "podman gave the container no IPv4 address on the network " + mode
	}
	return p
}
