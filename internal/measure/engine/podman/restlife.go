package podman

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// restLife is one container's life by the REST service, in podman-remote's
// order: create, attach, start, wait, remove. To attach to a container that
// does not run makes podman prepare it (the runtime's create), so that this
// lies between the events created and start, with a step of its own. The wait
// is asked for when start has returned: podman has none that waits for a start
// first. It polls by itself; see waitInterval.
type restLife struct {
	r    *rest
	task engine.Task
	body []byte // of create
	// look, where given, is called when the container has ended, before it is
	// removed: never in a trial, only for the proof.
	look func(ctx context.Context, name string) error

	res            engine.Result
	phase          string // what is being done, for messages
	stdout, stderr *stamp.Stream
	done           chan struct{} // closed at the end of the output
	hangUp         func()        // ends the output; may be called twice
	end            *ending
	// holding: what is waited for is the first byte, and not the end.
	holding bool
}

// waitInterval is how often the service looks whether a container has ended.
// Its default is 250 ms, all of which a short container would then take.
const waitInterval = time.Millisecond

// run carries the life out. A container that is left is the caller's to remove.
func (l *restLife) run(ctx context.Context) engine.Result {
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()

	restore := stamp.Quiet()
	err := l.live(ctx)
	restore()

	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	return l.over()
}

// over takes the output over.
func (l *restLife) over() engine.Result {
	if l.done != nil {
		l.hangUp()
		<-l.done
		l.res.Stdout, l.res.Stderr = l.stdout.Kept(), l.stderr.Kept()
		if at := l.stdout.First(); at != 0 {
			l.res.Events[record.Ready] = at
		}
	}
	return l.res
}

// live is the measured path.
func (l *restLife) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a wait that is still under way
	if err := l.begin(ctx, ctx); err != nil {
		return err
	}
	defer l.hangUp()
	l.watch(ctx, false)
	if l.task.Stop != nil {
		if err := l.ready(ctx); err != nil {
			return err
		}
		if err := l.stop(ctx, *l.task.Stop); err != nil {
			return err
		}
	}
	return l.finish(ctx)
}

func (l *restLife) path() string { return "/containers/" + l.task.Name }

// begin makes the container and starts it. Its output is followed until stay
// is over.
func (l *restLife) begin(ctx, stay context.Context) error {
	l.res.Events = make(map[record.Event]int64, 8)
	l.stdout, l.stderr = stamp.NewStream(l.task.OutputLimit), stamp.NewStream(l.task.OutputLimit)
	ev := l.res.Events

	l.phase = "creating the container"
	ev[record.Request] = stamp.Now()
	err := l.r.call(ctx, http.MethodPost, "/containers/create", nil, l.body, nil)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.phase = "attaching to the container"
	conn, in, err := l.r.takeOver(stay, l.path()+"/attach?stdout=true&stderr=true&stream=true", nil)
	if err != nil {
		return err
	}
	l.hangUp = sync.OnceFunc(func() { _ = conn.Close() })
	l.done = demultiplex(l.stdout, l.stderr, in)
	l.res.Steps = append(l.res.Steps, record.Step{Name: "attached", At: stamp.Now()})

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	err = l.r.call(ctx, http.MethodPost, l.path()+"/start", nil, nil, nil)
	at = stamp.Now()
	if err != nil {
		l.hangUp()
		return err
	}
	ev[record.Started] = at
	return nil
}

// finish waits for the container's end and removes it.
func (l *restLife) finish(ctx context.Context) error {
	ev := l.res.Events
	l.phase = "waiting for the container's end"
	select {
	case <-l.end.done:
		if l.end.err != nil {
			return l.end.err
		}
		ev[record.Exit] = l.end.at
		l.res.Exit = &l.end.status
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-l.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.look != nil {
		l.phase = "inspecting the container"
		if err := l.look(ctx, l.task.Name); err != nil {
			return err
		}
	}

	l.phase = "removing the container"
	err := l.r.call(ctx, http.MethodDelete, l.path(), url.Values{"v": {"true"}, "volumes": {"true"}}, nil, nil)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

// ending is how a container's end came to us. What is in it holds when done is
// closed.
type ending struct {
	done   chan struct{}
	at     int64
	status int
	err    error
}

// watch stamps the container's end when it reaches us. For one that is held it
// asks only when the output has ended: the service polls while it is asked, and
// what is held is to be left in peace.
func (l *restLife) watch(ctx context.Context, held bool) {
	e := &ending{done: make(chan struct{})}
	l.end = e
	go func() {
		defer close(e.done)
		if held {
			<-l.done
		}
		e.err = l.r.call(ctx, http.MethodPost, l.path()+"/wait",
			url.Values{"condition": {"exited"}, "interval": {waitInterval.String()}}, nil, &e.status)
		e.at = stamp.Now()
	}()
}

var errNotReady = errors.New("the payload ended before its first byte")

// ready waits for the payload's first byte.
func (l *restLife) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.stdout.Ready():
	case <-l.done:
		if l.stdout.First() == 0 {
			return errNotReady
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stop asks the engine to stop the container.
func (l *restLife) stop(ctx context.Context, s engine.Stop) error {
	l.phase = "stopping the container"
	l.res.Events[record.Stop] = stamp.Now()
	err := l.r.call(ctx, http.MethodPost, l.path()+"/stop", url.Values{"timeout": {graceSeconds(s)}}, nil, nil)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Stopped] = at
	return nil
}

// judge makes a failure of what the measured path returned.
func (l *restLife) judge(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		awaited := "did not end"
		if l.holding {
			awaited = "was not ready"
		}
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("%s within %v and was killed, while %s", awaited, l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: err.Error() + l.said()}
	}
	return &record.Failure{Class: restClass(err), Text: l.phase + ": " + err.Error()}
}

// said quotes the payload's own words, for a failure.
func (l *restLife) said() string {
	if words := adapter.Words(l.stderr.Kept()); words != "" {
		return ", and had said: " + words
	}
	return ""
}

// signalFailure is the failure of a payload that ended by a signal; one that
// was stopped on purpose may end so.
func signalFailure(status int, stopped bool, oom func() bool) *record.Failure {
	if status <= 128 || status > 128+64 {
		return nil
	}
	sig := syscall.Signal(status - 128)
	if stopped && (sig == syscall.SIGKILL || sig == syscall.SIGTERM) {
		return nil
	}
	if sig == syscall.SIGKILL && oom() {
		return &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
	}
	return &record.Failure{Class: record.Crash, Text: fmt.Sprintf("the payload ended by signal %d (%v)", int(sig), sig)}
}
