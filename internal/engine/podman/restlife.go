package podman

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/stamp"
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
}

// waitInterval is how often the service looks whether a container has ended.
// Its default is 250 ms, all of which a short container would then take.
const waitInterval = time.Millisecond

// run carries the life out. A container that is left is the caller's to remove.
func (l *restLife) run(ctx context.Context) engine.Result {
	l.res.Events = make(map[record.Event]int64, 8)
	l.stdout, l.stderr = stamp.NewStream(l.task.OutputLimit), stamp.NewStream(l.task.OutputLimit)
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()

	restore := stamp.Quiet()
	err := l.live(ctx)
	restore()

	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	if l.done != nil {
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
	ev, path := l.res.Events, "/containers/"+l.task.Name

	l.phase = "creating the container"
	ev[record.Request] = stamp.Now()
	err := l.r.call(ctx, http.MethodPost, "/containers/create", nil, l.body, nil)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.phase = "attaching to the container"
	conn, err := l.attach(ctx, path)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // only read from
	l.res.Steps = append(l.res.Steps, record.Step{Name: "attached", At: stamp.Now()})

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	err = l.r.call(ctx, http.MethodPost, path+"/start", nil, nil, nil)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	end := l.wait(ctx, path)

	if l.task.Stop != nil {
		if err := l.stop(ctx, path); err != nil {
			return err
		}
	}

	l.phase = "waiting for the container's end"
	select {
	case e := <-end:
		if e.err != nil {
			return e.err
		}
		ev[record.Exit] = e.at
		l.res.Exit = &e.status
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
	err = l.r.call(ctx, http.MethodDelete, path, url.Values{"v": {"true"}}, nil, nil)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

// attach follows the container's output on a connection of its own, which the
// service takes over after its answer.
func (l *restLife) attach(ctx context.Context, path string) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", l.r.socket)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	fail := func(err error) (net.Conn, error) {
		stop()
		return nil, errors.Join(err, conn.Close())
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://d"+restVersion+path+"/attach?stdout=true&stderr=true&stream=true", nil)
	if err != nil {
		return fail(err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", "tcp")
	if err := req.Write(conn); err != nil {
		return fail(err)
	}
	in := bufio.NewReader(conn)
	answer, err := http.ReadResponse(in, req)
	if err != nil {
		return fail(err)
	}
	if answer.StatusCode != http.StatusSwitchingProtocols && answer.StatusCode != http.StatusOK {
		var text [4096]byte
		n, _ := answer.Body.Read(text[:])
		return fail(errors.Join(refusal(answer.StatusCode, text[:n]), answer.Body.Close()))
	}
	l.done = make(chan struct{})
	go func() {
		defer close(l.done)
		defer stop()
		// A stream that breaks off shows in what came of it.
		_, _ = stdcopy.StdCopy(l.stdout, l.stderr, in)
	}()
	return conn, nil
}

// outcome is how a container's end came to us.
type outcome struct {
	at     int64
	status int
	err    error
}

// wait stamps the container's end when it reaches us.
func (l *restLife) wait(ctx context.Context, path string) <-chan outcome {
	c := make(chan outcome, 1)
	go func() {
		var e outcome
		e.err = l.r.call(ctx, http.MethodPost, path+"/wait",
			url.Values{"condition": {"exited"}, "interval": {waitInterval.String()}}, nil, &e.status)
		e.at = stamp.Now()
		c <- e
	}()
	return c
}

var errNotReady = errors.New("the payload ended before it was asked to stop")

// stop asks the engine to stop the container once the payload is ready.
func (l *restLife) stop(ctx context.Context, path string) error {
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
	l.phase = "stopping the container"
	l.res.Events[record.Stop] = stamp.Now()
	err := l.r.call(ctx, http.MethodPost, path+"/stop", url.Values{"timeout": {graceSeconds(l.task.Stop)}}, nil, nil)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Stopped] = at
	return nil
}

// judge makes a failure of what live returned.
func (l *restLife) judge(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: err.Error()}
	}
	return &record.Failure{Class: restClass(err), Text: l.phase + ": " + err.Error()}
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
