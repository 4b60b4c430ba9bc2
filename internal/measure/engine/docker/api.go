package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// life is one container's life by the API.
//
// The order of calls is that of `docker run`: create, attach, register the
// wait, start, then remove. Attach and wait lie between the events created and
// start, with steps of their own, so that start begins when all is prepared.
// Exit is when the wait's answer has reached us, removed when remove has
// returned; the output's end is awaited before removal.
type life struct {
	d      *daemon
	task   engine.Task
	create client.ContainerCreateOptions
	// look, where given, is called when the container has ended, before it is
	// removed: never in a trial, only for the proof.
	look func(ctx context.Context, id string) error

	res   engine.Result
	phase string // what is being done, for messages
	id    string
	out   *output
	end   *ending
	// made says that create was asked for, so that there may be a container.
	made bool
	// holding: what is waited for is the first byte, and not the end.
	holding bool
}

// run carries the life out. On return the container is gone, unless the
// result's failure says otherwise; left says so too.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()

	restore := stamp.Quiet()
	err := l.live(ctx)
	restore()

	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	return l.over(ctx)
}

// live is the measured path.
func (l *life) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a wait and an attachment that are still under way
	if err := l.begin(ctx, ctx); err != nil {
		return err
	}
	defer l.out.close()
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

// begin makes the container and starts it. Its output and its end are followed
// until stay is over.
func (l *life) begin(ctx, stay context.Context) error {
	l.res.Events = make(map[record.Event]int64, 8)
	ev := l.res.Events

	l.phase, l.made = "creating the container", true
	ev[record.Request] = stamp.Now()
	made, err := l.d.ContainerCreate(ctx, l.create)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created], l.id = at, made.ID

	l.phase = "attaching to the container"
	att, err := l.d.ContainerAttach(stay, l.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	l.step("attached")
	l.out = follow(att.Reader, att.Conn, l.task.OutputLimit)

	l.phase = "registering the wait for the container's end"
	l.end = watch(l.d.ContainerWait(stay, l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit}))
	l.step("waiting")

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	_, err = l.d.ContainerStart(ctx, l.id, client.ContainerStartOptions{})
	at = stamp.Now()
	if err != nil {
		l.out.close()
		return err
	}
	ev[record.Started] = at
	return nil
}

func (l *life) step(name string) {
	l.res.Steps = append(l.res.Steps, record.Step{Name: name, At: stamp.Now()})
}

var errNotReady = errors.New("the payload ended before its first byte")

// ready waits for the payload's first byte.
func (l *life) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.out.stdout.Ready():
	case <-l.out.done:
		if l.out.stdout.First() == 0 {
			return errNotReady
		}
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// stop asks the engine to stop the container.
func (l *life) stop(ctx context.Context, s engine.Stop) error {
	l.phase = "stopping the container"
	seconds := graceSeconds(s)
	l.res.Events[record.Stop] = stamp.Now()
	_, err := l.d.ContainerStop(ctx, l.id, client.ContainerStopOptions{Timeout: &seconds})
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Stopped] = at
	return nil
}

// finish waits for the container's end and removes it.
func (l *life) finish(ctx context.Context) error {
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
	case <-l.out.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.look != nil {
		l.phase = "inspecting the container"
		if err := l.look(ctx, l.id); err != nil {
			return err
		}
	}

	l.phase = "removing the container"
	_, err := l.d.ContainerRemove(ctx, l.id, client.ContainerRemoveOptions{RemoveVolumes: true})
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

// over is what comes after the measured path: what is left is removed, and the
// output is taken over.
func (l *life) over(ctx context.Context) (res engine.Result, left bool) {
	if l.made && l.res.Events[record.Removed] == 0 {
		if err := l.d.removeContainer(context.WithoutCancel(ctx), l.task.Name); err != nil {
			left = true
			if l.res.Failure != nil {
				l.res.Failure.Text += "; " + notRemoved(err)
			}
		}
	}
	if l.out != nil {
		l.out.close()
		<-l.out.done
		l.res.Stdout, l.res.Stderr = l.out.stdout.Kept(), l.out.stderr.Kept()
		if at := l.out.stdout.First(); at != 0 {
			l.res.Events[record.Ready] = at
		}
	}
	return l.res, left
}

// graceSeconds is the grace period as Docker takes it: whole seconds, a part
// of one counts as one.
func graceSeconds(s engine.Stop) int {
	return int((s.Grace + time.Second - 1) / time.Second)
}

// ending is how a container's end came to us. What is in it holds when done is
// closed.
type ending struct {
	done   chan struct{}
	at     int64
	status int
	err    error
}

// watch stamps the container's end when it reaches us. The client's channels
// must be received from, or its goroutine stays for ever.
func watch(w client.ContainerWaitResult) *ending {
	e := &ending{done: make(chan struct{})}
	go func() {
		defer close(e.done)
		select {
		case r := <-w.Result:
			e.at, e.status = stamp.Now(), int(r.StatusCode)
			if r.Error != nil && r.Error.Message != "" {
				e.err = errors.New(r.Error.Message)
			}
		case e.err = <-w.Error:
		}
	}()
	return e
}

// judge makes a failure of what the measured path returned.
func (l *life) judge(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		awaited := "did not end"
		if l.holding {
			awaited = "was not ready"
		}
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("%s within %v and was killed, while %s", awaited, l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: errNotReady.Error() + l.said()}
	}
	return l.d.failure(l.phase, err)
}

// said quotes the payload's own words, for a failure.
func (l *life) said() string {
	if words := adapter.Words(l.out.stderr.Kept()); words != "" {
		return ", and had said: " + words
	}
	return ""
}
