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

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/stamp"
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
	// network, where given, is what the container gets an address of.
	network *cni.Network
	// join, where given, is the network namespace that it lives in.
	join string
	// address is the container's IPv4 address; empty where it has none.
	address string

	res            engine.Result
	phase          string // what is being done, for messages
	stdout, stderr *stamp.Stream
	io             *fifos
	attached       *cni.Attachment
	made           bool // there may be a container
	container      client.Container
	live           client.Task
	end            *ending
}

// run carries the life out. On return the container is gone, unless left is
// true, and then the result's failure says so too.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()
	l.begin()
	restore := stamp.Quiet()
	err := l.whole(ctx)
	restore()
	return l.settle(ctx, err)
}

func (l *life) begin() {
	l.res.Events = make(map[record.Event]int64, 8)
	l.stdout, l.stderr = stamp.NewStream(l.task.OutputLimit), stamp.NewStream(l.task.OutputLimit)
}

// settle judges, removes what a failed life left, and gathers the output.
func (l *life) settle(ctx context.Context, err error) (res engine.Result, left bool) {
	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	after := context.WithoutCancel(ctx)
	if l.made && l.res.Events[record.Removed] == 0 {
		if err := l.d.remove(after, l.task.Name); err != nil {
			left = true
			if l.res.Failure != nil {
				l.res.Failure.Text += "; " + notRemoved(err)
			}
		}
	}
	unclean := func(what string, err error) {
		if err != nil && l.res.Failure == nil {
			l.res.Failure = &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("%s: %v", what, err)}
		}
	}
	unclean("removing the network", l.attached.Detach(after))
	if l.io != nil {
		unclean("removing the FIFOs", l.io.Close())
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

// whole is the measured path.
func (l *life) whole(ctx context.Context) error {
	if err := l.up(ctx, ctx); err != nil {
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

// up brings the container to run; its end is told for as long as stay lasts.
func (l *life) up(ctx, stay context.Context) (err error) {
	ev := l.res.Events
	l.phase, l.made = "creating the container", true
	ev[record.Request] = stamp.Now()
	if l.network != nil {
		l.phase = "giving the container a network"
		if l.attached, err = l.network.Attach(ctx, l.task.Name); err != nil {
			return err
		}
		l.join, l.address = l.attached.Path, l.attached.Address.String()
		l.step("network", stamp.Now())
		l.phase = "creating the container"
	}
	l.container, err = l.d.NewContainer(ctx, l.task.Name, l.settings.container(l.task, l.join)...)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.step("container", at)
	l.phase = "creating the task"
	l.live, err = l.container.NewTask(ctx, l.streams)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.phase = "registering the wait for the task's end"
	if l.end, err = watch(stay, l.live, l.io); err != nil {
		return err
	}
	l.step("waiting", stamp.Now())

	l.phase = "starting the task"
	ev[record.Start] = stamp.Now()
	err = l.live.Start(ctx)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	if l.running != nil {
		l.running <- l.live
	}
	return nil
}

// down awaits the end, which has been asked for where it does not come by
// itself, and removes the container.
func (l *life) down(ctx context.Context) error {
	ev := l.res.Events
	l.phase = "waiting for the task's end"
	e, err := l.end.await(ctx)
	if err != nil {
		return err
	}
	l.step("waited", e.at)
	ev[record.Exit], l.res.Exit = e.seen, &e.status
	if l.look != nil {
		l.phase = "looking at the container"
		if err := l.look(ctx, l.container); err != nil {
			return err
		}
	}

	l.phase = "removing the task"
	if _, err = l.live.Delete(ctx); err != nil {
		return err
	}
	l.step("task-removed", stamp.Now())
	if l.attached != nil {
		l.phase = "removing the network"
		if err := l.attached.Detach(ctx); err != nil {
			return err
		}
		l.step("network-removed", stamp.Now())
	}
	l.phase = "removing the container"
	err = l.container.Delete(ctx, client.WithSnapshotCleanup)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Removed] = at
	return nil
}

func (l *life) step(name string, at int64) {
	l.res.Steps = append(l.res.Steps, record.Step{Name: name, At: at})
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
