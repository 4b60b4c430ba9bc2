package docker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/stamp"
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
	out   *output
	// made says that create was asked for, so that there may be a container.
	made bool
}

// ended is how a container's end came to us.
type ended struct {
	at     int64
	status int
	err    error
}

// run carries the life out. On return the container is gone, unless the
// result's failure says otherwise; left says so too.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
	l.res.Events = make(map[record.Event]int64, 8)
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()

	restore := stamp.Quiet()
	err := l.live(ctx)
	restore()

	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	if l.made && l.res.Events[record.Removed] == 0 {
		if err := l.d.removeContainer(context.WithoutCancel(ctx), l.task.Name); err != nil {
			left = true
			l.res.Failure.Text += "; " + notRemoved(err)
		}
	}
	if l.out != nil {
		<-l.out.done
		l.res.Stdout, l.res.Stderr = l.out.stdout.Kept(), l.out.stderr.Kept()
		if at := l.out.stdout.First(); at != 0 {
			l.res.Events[record.Ready] = at
		}
	}
	return l.res, left
}

// live is the measured path.
func (l *life) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a wait that is still under way
	ev := l.res.Events

	l.phase, l.made = "creating the container", true
	ev[record.Request] = stamp.Now()
	made, err := l.d.ContainerCreate(ctx, l.create)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.phase = "attaching to the container"
	att, err := l.d.ContainerAttach(ctx, made.ID, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	defer att.Close()
	l.res.Steps = append(l.res.Steps, record.Step{Name: "attached", At: stamp.Now()})
	l.out = follow(att.Reader, l.task.OutputLimit)

	l.phase = "registering the wait for the container's end"
	end := watch(l.d.ContainerWait(ctx, made.ID, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit}))
	l.res.Steps = append(l.res.Steps, record.Step{Name: "waiting", At: stamp.Now()})

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	_, err = l.d.ContainerStart(ctx, made.ID, client.ContainerStartOptions{})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at

	if l.task.Stop != nil {
		if err := l.stop(ctx, made.ID); err != nil {
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
	case <-l.out.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.look != nil {
		l.phase = "inspecting the container"
		if err := l.look(ctx, made.ID); err != nil {
			return err
		}
	}

	l.phase = "removing the container"
	_, err = l.d.ContainerRemove(ctx, made.ID, client.ContainerRemoveOptions{RemoveVolumes: true})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

var errNotReady = errors.New("the payload ended before it was asked to stop")

// stop asks the engine to stop the container once the payload is ready.
func (l *life) stop(ctx context.Context, id string) error {
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
	l.phase = "stopping the container"
	seconds := graceSeconds(l.task.Stop)
	l.res.Events[record.Stop] = stamp.Now()
	_, err := l.d.ContainerStop(ctx, id, client.ContainerStopOptions{Timeout: &seconds})
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Stopped] = at
	return nil
}

// graceSeconds is the grace period as Docker takes it: whole seconds, a part
// of one counts as one.
func graceSeconds(s *engine.Stop) int {
	return int((s.Grace + time.Second - 1) / time.Second)
}

// watch stamps the container's end when it reaches us. The client's channels
// must be received from, or its goroutine stays for ever.
func watch(w client.ContainerWaitResult) <-chan ended {
	c := make(chan ended, 1)
	go func() {
		select {
		case r := <-w.Result:
			e := ended{at: stamp.Now(), status: int(r.StatusCode)}
			if r.Error != nil && r.Error.Message != "" {
				e.err = errors.New(r.Error.Message)
			}
			c <- e
		case err := <-w.Error:
			c <- ended{err: err}
		}
	}()
	return c
}

// judge makes a failure of what live returned.
func (l *life) judge(ctx context.Context, err error) *record.Failure {
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: err.Error()}
	}
	return l.d.failure(l.phase, err)
}
