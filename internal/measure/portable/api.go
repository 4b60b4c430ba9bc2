package portable

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// life is one container's life by the API. The order of calls is that of `docker run`
// and of the full half: create, attach, register the wait, start, wait, remove.
type life struct {
	d    *Daemon
	task engine.Task
	res  engine.Result

	id             string
	phase          string // what is being done, for messages
	stdout, stderr *stamp.Stream
	hijacked       *client.HijackedResponse
	drained        chan struct{} // closed when the output has ended
	drainedAt      int64
	end            chan ended
}

// ended is what the engine told of a container's end.
type ended struct {
	at     int64 // when that reached us
	status int
	err    error
}

func newLife(d *Daemon, task engine.Task) *life {
	return &life{d: d, task: task, stdout: stamp.NewStream(task.OutputLimit), stderr: stamp.NewStream(task.OutputLimit),
		res: engine.Result{Events: make(map[record.Event]int64, 16)}}
}

func (l *life) step(name string) {
	l.res.Steps = append(l.res.Steps, record.Step{Name: name, At: stamp.Now()})
}

// up brings the container to run.
func (l *life) up(ctx context.Context, create client.ContainerCreateOptions) error {
	ev := l.res.Events
	l.phase = "creating the container"
	ev[record.Request] = stamp.Now()
	made, err := l.d.ContainerCreate(ctx, create)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created], l.id = at, made.ID

	l.phase = "attaching to the container"
	att, err := l.d.ContainerAttach(ctx, l.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	l.step("attached")
	l.read(&att.HijackedResponse)

	l.phase = "registering the wait for the container's end"
	w := l.d.ContainerWait(ctx, l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	// The client's channels must be received from, or its goroutine stays for ever.
	l.end = make(chan ended, 1)
	go func(end chan<- ended) {
		select {
		case r := <-w.Result:
			e := ended{at: stamp.Now(), status: int(r.StatusCode)}
			if r.Error != nil && r.Error.Message != "" {
				e.err = errors.New(r.Error.Message)
			}
			end <- e
		case err := <-w.Error:
			end <- ended{err: err}
		}
	}(l.end)
	l.step("waiting")

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	_, err = l.d.ContainerStart(ctx, l.id, client.ContainerStartOptions{})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	return nil
}

// read takes the output apart that comes by a connection in Docker's frames.
func (l *life) read(att *client.HijackedResponse) {
	l.hijacked, l.drained = att, make(chan struct{})
	go func() {
		defer close(l.drained)
		_, _ = stdcopy.StdCopy(l.stdout, l.stderr, att.Reader) // one that breaks off shows in what came
		l.drainedAt = stamp.Now()
	}()
}

// ready waits for the payload's first byte.
func (l *life) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.stdout.Ready():
		return nil
	case <-l.drained:
		return &engine.Error{Class: record.NoProof, Text: "the payload ended before its first byte: " + lastLine(l.stderr.Kept())}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop asks the engine to stop the container.
func (l *life) stop(ctx context.Context, s engine.Stop) error {
	l.phase = "stopping the container"
	seconds := graceSeconds(s)
	l.res.Events[record.Stop] = stamp.Now()
	_, err := l.d.ContainerStop(ctx, l.id, client.ContainerStopOptions{Timeout: &seconds})
	if err == nil {
		l.res.Events[record.Stopped] = stamp.Now()
	}
	return err
}

// graceSeconds is the grace period as Docker takes it: a part of a second is one.
func graceSeconds(s engine.Stop) int { return int((s.Grace + time.Second - 1) / time.Second) }

// finish waits for the container's end, of which the answer and the end of the output
// come by two ways, and removes it.
func (l *life) finish(ctx context.Context) error {
	l.phase = "waiting for the container's end"
	var e ended
	select {
	case e = <-l.end:
	case <-ctx.Done():
		return ctx.Err()
	}
	if e.err != nil {
		return e.err
	}
	l.res.Steps = append(l.res.Steps, record.Step{Name: "waited", At: e.at})
	select {
	case <-l.drained:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.res.Events[record.Exit], l.res.Exit = max(e.at, l.drainedAt), &e.status

	l.phase = "removing the container"
	_, err := l.d.ContainerRemove(ctx, l.id, client.ContainerRemoveOptions{RemoveVolumes: true})
	at := stamp.Now()
	if err == nil {
		l.res.Events[record.Removed] = at
	}
	return err
}

// gather takes over what was printed. It ends the output's connection.
func (l *life) gather() {
	if l.hijacked != nil {
		l.hijacked.Close()
		<-l.drained
	}
	l.res.Stdout, l.res.Stderr = l.stdout.Kept(), l.stderr.Kept()
	if at := l.stdout.First(); at != 0 {
		l.res.Events[record.Ready] = at
		if exit, ok := l.res.Events[record.Exit]; ok { // what was printed was printed before the end
			l.res.Events[record.Exit] = max(exit, at)
		}
	}
}

// failed says what came of a life that err ended.
func (l *life) failed(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut, Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	return engine.FailureOf(l.d.wrong(l.phase, err))
}
