package lxd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/engine/wrap"
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
	d       *daemon
	task    engine.Task
	profile string
	image   string // fingerprint
	nic     *nic   // what the container gets an address by; nil where there is none
	pool    string // for its volumes
	shift   bool   // of directories of the host
	// look, where given, is called when the payload has ended, before the
	// container is removed: for the proof only.
	look func(ctx context.Context, name string) error

	res   engine.Result
	phase string // what is being done, for messages
	made  bool   // create was asked for, so that there may be a container
	x     *execution
	oom   func() bool

	address string
	volumes []string
}

// run carries the life out; left says that the container is still there.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()
	l.begin()
	restore := stamp.Quiet()
	err := l.live(ctx)
	restore()
	return l.settle(ctx, err)
}

func (l *life) begin() {
	l.res.Events = make(map[record.Event]int64, 16)
	l.oom = wrap.HostOOMWatch()
}

// settle judges, removes what a failed life left, and gathers the output.
func (l *life) settle(ctx context.Context, err error) (res engine.Result, left bool) {
	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	} else if l.res.Exit != nil {
		l.res.Failure = signalFailure(*l.res.Exit, l.task.Stop != nil, l.oom)
	}
	if l.made && l.res.Events[record.Removed] == 0 {
		if err := l.d.removeWith(context.WithoutCancel(ctx), l.task.Name, l.pool, l.volumes); err != nil {
			left = true
			l.res.Failure.Text += "; " + err.Error()
		}
	}
	l.nic.giveBack(l.address)
	if l.x != nil {
		l.x.close()
		<-l.x.drained
		l.res.Stdout, l.res.Stderr = l.x.stdout.Kept(), l.x.stderr.Kept()
		if at := l.x.stdout.First(); at != 0 {
			l.res.Events[record.Ready] = at
		}
	}
	return l.res, left
}

// step does one thing and stamps before and after it.
func (l *life) step(ctx context.Context, phase string, begin, end record.Event, method, at string, body any) error {
	l.phase = phase
	if begin != "" {
		l.res.Events[begin] = stamp.Now()
	}
	err := l.d.call(ctx, method, at, body)
	now := stamp.Now()
	if err == nil && end != "" {
		l.res.Events[end] = now
	}
	return err
}

// live is the measured path.
func (l *life) live(ctx context.Context) error {
	if err := l.up(ctx); err != nil {
		return err
	}
	if l.task.Stop != nil {
		if err := l.ready(ctx); err != nil {
			return err
		}
		if err := l.stop(ctx, l.task.Stop.Grace); err != nil {
			return err
		}
	}
	return l.down(ctx)
}

// up brings the payload to run.
func (l *life) up(ctx context.Context) (err error) {
	l.made = true
	l.res.Events[record.Request] = stamp.Now()
	if err := l.makeVolumes(ctx); err != nil {
		return err
	}
	body := map[string]any{
		"name": l.task.Name, "type": "container", "profiles": []string{l.profile},
		"source": map[string]string{"type": "image", "fingerprint": l.image},
	}
	l.address = l.nic.take()
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
	l.phase = "executing the payload"
	l.res.Events[record.Exec] = stamp.Now()
	l.x, err = l.d.exec(ctx, l.task.Name, l.task, nil)
	return err
}

// at is the container's path in the API.
func (l *life) at() string { return "/1.0/instances/" + l.task.Name }

// down awaits the payload's end and removes the container.
func (l *life) down(ctx context.Context) error {
	if err := l.end(ctx); err != nil {
		return err
	}
	at := l.at()
	read := l.readInit(ctx, at)
	if l.look != nil {
		l.phase = "looking at the container"
		if err := l.look(ctx, l.task.Name); err != nil {
			return err
		}
	}
	if l.task.Stop == nil {
		if err := l.halt(ctx, at); err != nil {
			return err
		}
		l.res.Steps = append(l.res.Steps, record.Step{Name: "halted", At: stamp.Now()})
	}
	if !read { // the console's reader may lag; at its end it has it all
		l.readInit(ctx, at)
	}
	if len(l.volumes) == 0 {
		return l.delete(ctx, at, record.Removed)
	}
	if err := l.delete(ctx, at, ""); err != nil {
		return err
	}
	l.res.Steps = append(l.res.Steps, record.Step{Name: "container-removed", At: stamp.Now()})
	if err := l.d.removeVolumes(ctx, l.pool, l.volumes); err != nil {
		return err
	}
	l.res.Events[record.Removed] = stamp.Now()
	return nil
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
			l.res.Steps = append(l.res.Steps, record.Step{Name: "halt-asked-again", At: stamp.Now()})
		case !says(err, saidBusy, saidDown):
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPoll):
		}
	}
}

// busyPoll is how often a container is tried to be stopped or removed that the
// daemon is still busy with: it has no event for its own lock.
const busyPoll = 20 * time.Millisecond

// delete removes the container. A stop that found it at its end may still be
// under way inside the daemon, though no operation says so: then its end is
// waited for.
func (l *life) delete(ctx context.Context, at string, end record.Event) error {
	for {
		err := l.step(ctx, "removing the container", "", end, http.MethodDelete, at, nil)
		if err == nil || !says(err, saidBusy) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPoll):
		}
	}
}

var errNotReady = errors.New("the payload ended before it had said anything")

// ready awaits the payload's first byte.
func (l *life) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.x.stdout.Ready():
	case <-l.x.over:
		if err := l.x.failed(); err != nil {
			return err
		}
		if l.x.stdout.First() == 0 {
			return errNotReady
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stop asks the engine to stop the container: its init is told to shut down,
// and when the grace is over the container is ended.
func (l *life) stop(ctx context.Context, grace time.Duration) error {
	at := l.at()
	if grace <= 0 {
		return l.step(ctx, "stopping the container by force", record.Stop, record.Stopped, http.MethodPut, at+"/state", forceStop)
	}
	// The daemon's own limit is whole seconds; it says no more than that the
	// container still runs when it is over.
	begin, over := record.Stop, time.Now().Add(grace)
	var err error
	for {
		err = l.step(ctx, "stopping the container", begin, record.Stopped, http.MethodPut, at+"/state",
			map[string]any{"action": "stop", "timeout": max(1, seconds(time.Until(over))), "force": false})
		var said *apiError
		if err == nil || ctx.Err() != nil || !errors.As(err, &said) {
			return err
		}
		if l.stoppedAlready(err) {
			return nil
		}
		if !says(err, saidFailed, saidDown) || time.Now().After(over) {
			break
		}
		begin = ""
		l.res.Steps = append(l.res.Steps, record.Step{Name: "stop-asked-again", At: stamp.Now()})
		select {
		case <-ctx.Done():
			return err
		case <-time.After(busyPoll):
		}
	}
	l.res.Steps = append(l.res.Steps, record.Step{Name: "grace is over", At: stamp.Now()})
	if ferr := l.halt(ctx, at); ferr != nil {
		return errors.Join(err, ferr)
	}
	l.res.Events[record.Stopped] = stamp.Now()
	return nil
}

// says whether an error has one of these pieces of the daemon's messages.
func says(err error, pieces ...string) bool {
	return slices.ContainsFunc(pieces, func(p string) bool { return strings.Contains(err.Error(), p) })
}

// stoppedAlready says whether a stop failed since the container had come to
// its end by itself just before: then this is when we know that it has stopped.
func (l *life) stoppedAlready(err error) bool {
	if !says(err, saidStopped) {
		return false
	}
	l.res.Events[record.Stopped] = stamp.Now()
	return true
}

// end waits for the payload's end, which is when its status has come and all
// of its output: the daemon sends them over different connections, in any order.
func (l *life) end(ctx context.Context) error {
	l.phase = "waiting for the payload's end"
	select {
	case <-l.x.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := l.x.failed(); err != nil {
		return err
	}
	l.res.Events[record.Exit] = max(l.x.at, l.x.drainedAt)
	l.res.Exit = &l.x.status
	return nil
}

// consoleLimit bounds what is read of a container's console, bytes.
const consoleLimit = 64 << 10

// readInit takes the init's own stamp from the console. Where it can't be read
// the event is missing.
func (l *life) readInit(ctx context.Context, at string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.d.address("http", at+"/console"), nil)
	if err != nil {
		return false
	}
	resp, err := l.d.http.Do(req)
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
		l.res.Events[record.Init] = said.First
	}
	return err == nil
}

// judge makes a failure of what live returned.
func (l *life) judge(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.NoProof, Text: err.Error()}
	}
	return l.d.failure(l.phase, err)
}

// signalFailure is the failure of a payload that ended by a signal; one that
// was stopped on purpose may end so.
func signalFailure(status int, stopped bool, oom func() bool) *record.Failure {
	if status <= 128 || status > 128+64 {
		return nil
	}
	sig := syscall.Signal(status - 128)
	switch {
	case stopped && (sig == syscall.SIGKILL || sig == syscall.SIGTERM):
		return nil
	case sig == syscall.SIGKILL && oom != nil && oom():
		return &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
	}
	return &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the payload ended by signal %d (%v)", int(sig), sig)}
}
