package lxd

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// life is one container's life by the API: create, start, execute the payload,
// stop, delete, each awaited.
//
// The event exit is the payload's end: the container's own comes with the stop.
// Where no stop is asked for, the container is ended at once before it is
// deleted (step halted); both are its removal.
type life struct {
	apirun.Life
	env   *environment
	shift bool // of directories of the host
	// look, where given, is called when the payload has ended, before the
	// container is removed: for the proof only.
	look func(ctx context.Context, name string) error

	x       *execution
	address string
	volumes []string
}

func (env *environment) life(task engine.Task) *life {
	env.shifting.Lock()
	defer env.shifting.Unlock()
	return &life{Life: apirun.NewLife(task), env: env, shift: env.shift, look: env.look}
}

// step does one thing and stamps before and after it.
func (l *life) step(ctx context.Context, phase string, begin, end record.Event, method, at string, body any) error {
	l.Phase(phase)
	if begin != "" {
		l.Res.Events[begin] = stamp.Now()
	}
	err := l.env.d.call(ctx, method, at, body)
	now := stamp.Now()
	if err == nil && end != "" {
		l.Res.Events[end] = now
	}
	return err
}

// at is the container's path in the API.
func (l *life) at() string { return "/1.0/instances/" + l.Task.Name }

func (l *life) Up(ctx, _ context.Context) (err error) {
	l.Phase("creating the container")
	l.Res.Events[record.Request] = stamp.Now()
	if err := l.makeVolumes(ctx); err != nil {
		return err
	}
	body := map[string]any{
		"name": l.Task.Name, "type": "container", "profiles": []string{profileName(l.env.spec)},
		"source": map[string]string{"type": "image", "fingerprint": l.env.image},
	}
	l.address = l.env.nic.take()
	body["config"], body["devices"] = l.config(), l.devices()
	err = l.step(ctx, "creating the container", "", record.Created, http.MethodPost, "/1.0/instances", body)
	if err != nil {
		return err
	}
	err = l.step(ctx, "starting the container", record.Start, record.Started, http.MethodPut, l.at()+"/state",
		map[string]any{"action": "start", "timeout": -1})
	if err != nil {
		return err
	}
	l.Phase("executing the payload")
	l.Res.Events[record.Exec] = stamp.Now()
	l.x, err = l.env.d.exec(ctx, l.Task.Name, &l.Life, nil)
	return err
}

func (l *life) Down(ctx context.Context) error {
	at := l.at()
	read := l.readInit(ctx, at)
	if l.look != nil {
		l.Phase("looking at the container")
		if err := l.look(ctx, l.Task.Name); err != nil {
			return err
		}
	}
	if !l.Stopped() {
		if err := l.halt(ctx, at); err != nil {
			return err
		}
		l.Step("halted", stamp.Now())
	}
	if !read { // the console's reader may lag; at its end it has it all
		l.readInit(ctx, at)
	}
	if err := l.delete(ctx, at); err != nil || len(l.volumes) == 0 {
		return err
	}
	l.Step("container-removed", stamp.Now())
	return l.env.d.removeVolumes(ctx, l.env.pool.Name, l.volumes)
}

func (l *life) Release(context.Context) *record.Failure {
	l.env.nic.giveBack(l.address)
	l.x.close()
	return nil
}

// Place finds the payload by the container's init, which the daemon reports.
func (l *life) Place(ctx context.Context) (engine.Place, error) {
	p := engine.Place{Address: l.address}
	if l.address == "" {
		p.NoAddress = l.env.noAddress
	}
	var state struct{ Pid int }
	_ = l.env.d.get(ctx, l.at()+"/state", &state) // then it stays 0
	if state.Pid == 0 {
		return p, errors.New("the daemon does not tell the container's init")
	}
	p.PID = adapter.Inside(state.Pid, l.Task.Argv)
	return p, nil
}

// What the daemon says of a container that it is at work on, of one that has
// come to its end by itself, and of one whose hooks are still at work then.
const (
	saidBusy    = "is busy running"
	saidStopped = "already stopped"
	saidDown    = "is not running"
	// saidFailed is of a container that has not ended when the grace is over, and
	// of one that goes down as it was told to: liblxc waits for that with a poll
	// that any signal to the daemon breaks off (the Go runtime sends such).
	saidFailed = "shutting down the container failed"
)

// haltLimit is for how long one request to halt is waited for. Now and then the
// daemon misses a container's end and would wait for ever; asked again it looks.
const haltLimit = 10 * time.Second

// halt ends the container at once.
func (l *life) halt(ctx context.Context, at string) error {
	for {
		one, cancel := context.WithTimeout(ctx, haltLimit)
		err := l.step(one, "halting the container", "", "", http.MethodPut, at+"/state", forceStop)
		late := one.Err() != nil
		cancel()
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case says(err, saidStopped):
			return nil
		case late:
			l.Step("halt-asked-again", stamp.Now())
		case !says(err, saidBusy, saidDown):
			return err
		}
		if !engine.Pause(ctx, busyPoll) {
			return err
		}
	}
}

// busyPoll is how often a container is tried to be stopped or removed that the
// daemon is still busy with: it has no event for its own lock.
const busyPoll = 20 * time.Millisecond

// delete removes the container. A stop that found it at its end may still be
// under way inside the daemon, though no operation says so: then its end is
// waited for.
func (l *life) delete(ctx context.Context, at string) error {
	for {
		err := l.step(ctx, "removing the container", "", "", http.MethodDelete, at, nil)
		if err == nil || !says(err, saidBusy) {
			return err
		}
		if !engine.Pause(ctx, busyPoll) {
			return err
		}
	}
}

// Stop asks the container's init to shut down, and ends the container after the
// grace.
func (l *life) Stop(ctx context.Context, stop engine.Stop) error {
	at, grace := l.at(), stop.Grace
	if grace <= 0 {
		return l.step(ctx, "stopping the container by force", "", "", http.MethodPut, at+"/state", forceStop)
	}
	// The daemon's own limit is whole seconds; it says no more than that the
	// container still runs when it is over.
	over := time.Now().Add(grace)
	var err error
	for {
		err = l.step(ctx, "stopping the container", "", "", http.MethodPut, at+"/state",
			map[string]any{"action": "stop", "timeout": max(1, seconds(time.Until(over))), "force": false})
		var said *apiError
		if err == nil || ctx.Err() != nil || !errors.As(err, &said) {
			return err
		}
		if says(err, saidStopped) { // by itself, just before
			return nil
		}
		if !says(err, saidFailed, saidDown) || time.Now().After(over) {
			break
		}
		l.Step("stop-asked-again", stamp.Now())
		if !engine.Pause(ctx, busyPoll) {
			return err
		}
	}
	if time.Now().After(over) {
		l.Step("grace is over", stamp.Now())
	}
	if ferr := l.halt(ctx, at); ferr != nil {
		return errors.Join(err, ferr)
	}
	return nil
}

// says whether an error has one of these pieces of the daemon's messages.
func says(err error, pieces ...string) bool {
	return slices.ContainsFunc(pieces, func(p string) bool { return strings.Contains(err.Error(), p) })
}

// consoleLimit bounds what is read of a container's console, bytes.
const consoleLimit = 64 << 10

// readInit takes the init's own stamp from the console. Where it can't be read
// the event is missing.
func (l *life) readInit(ctx context.Context, at string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.env.d.address("http", at+"/console"), nil)
	if err != nil {
		return false
	}
	resp, err := l.env.d.http.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, consoleLimit))
	if err != nil {
		return false
	}
	said, err := probe.ParsePayload(text, probe.InitWord)
	if err == nil {
		l.Res.Events[record.Init] = said.First
	}
	return err == nil
}
