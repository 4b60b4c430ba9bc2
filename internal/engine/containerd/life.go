package containerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/stamp"
	"plimsoll/internal/record"
)

// life is one container's life.
//
// The order of calls is that of `ctr run`: snapshot and container record,
// task, wait, start; then task and container are deleted. Created is when the
// task is there: the runtime has made the container by then. The wait is
// registered between created and start. Exit is when the wait's answer and
// the end of the output have reached us, which come by two ways: dockerd, too,
// answers a wait when the output has been copied. Removed is when the record
// and the snapshot are deleted.
type life struct {
	d        *daemon
	kit      *engine.Kit
	task     engine.Task
	settings *settings
	stdin    io.Reader // the payload's, where it has one
	also     io.Writer // gets the output too, where given
	// look, where given, is called when the container has ended, before it is
	// removed: never in a trial, only for the proof.
	look func(ctx context.Context, c client.Container) error
	// running, where given, gets the task when it has been started.
	running chan<- client.Task

	res            engine.Result
	phase          string // what is being done, for messages
	stdout, stderr *stamp.Stream
	io             *fifos
	made           bool // there may be a container
}

// run carries the life out. On return the container is gone, unless left is
// true, and then the result's failure says so too.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
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
	if l.made && l.res.Events[record.Removed] == 0 {
		if err := l.d.remove(context.WithoutCancel(ctx), l.task.Name); err != nil {
			left = true
			if l.res.Failure != nil {
				l.res.Failure.Text += "; " + notRemoved(err)
			}
		}
	}
	if l.io != nil {
		if err := l.io.Close(); err != nil && l.res.Failure == nil {
			l.res.Failure = &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("removing the FIFOs: %v", err)}
		}
	}
	l.res.Stdout, l.res.Stderr = l.stdout.Kept(), l.stderr.Kept()
	if at := l.stdout.First(); at != 0 {
		l.res.Events[record.Ready] = at
	}
	return l.res, left
}

// streams opens the FIFOs, as part of making the task.
func (l *life) streams(id string) (cio.IO, error) {
	var out io.Writer = l.stdout
	if l.also != nil {
		out = io.MultiWriter(l.stdout, l.also)
	}
	f, err := openFIFOs(l.kit, id, l.stdin, out, l.stderr)
	if err != nil {
		return nil, err
	}
	l.io = f
	return f, nil
}

// live is the measured path.
func (l *life) live(ctx context.Context) error {
	ev := l.res.Events
	options := l.settings.container(l.task)

	l.phase, l.made = "creating the container", true
	ev[record.Request] = stamp.Now()
	c, err := l.d.NewContainer(ctx, l.task.Name, options...)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.step("container", at)
	l.phase = "creating the task"
	task, err := c.NewTask(ctx, l.streams)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.phase = "registering the wait for the task's end"
	end, err := l.watch(ctx, task)
	if err != nil {
		return err
	}
	l.step("waiting", stamp.Now())

	l.phase = "starting the task"
	ev[record.Start] = stamp.Now()
	err = task.Start(ctx)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	if l.running != nil {
		l.running <- task
	}

	if err := l.end(ctx, task, end); err != nil {
		return err
	}
	select {
	case <-l.io.drained:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.step("waited", ev[record.Exit])
	ev[record.Exit] = max(ev[record.Exit], l.io.ended)
	if l.look != nil {
		l.phase = "looking at the container"
		if err := l.look(ctx, c); err != nil {
			return err
		}
	}

	l.phase = "removing the task"
	if _, err = task.Delete(ctx); err != nil {
		return err
	}
	l.step("task-removed", stamp.Now())
	l.phase = "removing the container"
	err = c.Delete(ctx, client.WithSnapshotCleanup)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

func (l *life) step(name string, at int64) {
	l.res.Steps = append(l.res.Steps, record.Step{Name: name, At: at})
}

// ended is how a task's end came to us.
type ended struct {
	at     int64
	status int
	err    error
}

// watch stamps the task's end when it reaches us.
func (l *life) watch(ctx context.Context, task client.Task) (<-chan ended, error) {
	w, err := task.Wait(ctx)
	if err != nil {
		return nil, err
	}
	c := make(chan ended, 1)
	go func() {
		s := <-w
		e := ended{at: stamp.Now(), err: s.Error()}
		e.status = int(s.ExitCode())
		c <- e
	}()
	return c, nil
}

var errNotReady = errors.New("the payload ended before it was asked to stop")

// end awaits the task's end, after having asked for it where the trial says so.
func (l *life) end(ctx context.Context, task client.Task, end <-chan ended) error {
	if l.task.Stop != nil {
		e, err := l.stop(ctx, task, end)
		if err != nil {
			return err
		}
		l.res.Events[record.Stopped] = e.at
		return l.over(e)
	}
	l.phase = "waiting for the task's end"
	select {
	case e := <-end:
		return l.over(e)
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *life) over(e ended) error {
	if e.err != nil {
		return e.err
	}
	l.res.Events[record.Exit] = e.at
	l.res.Exit = &e.status
	return nil
}

// judge makes a failure of what live returned.
func (l *life) judge(ctx context.Context, err error) *record.Failure {
	// The daemon knows the time limit too, and may be the first to say so.
	if end, _ := ctx.Deadline(); time.Until(end) < time.Second && strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
		<-ctx.Done()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: err.Error()}
	}
	return l.d.failure(l.phase, err)
}
