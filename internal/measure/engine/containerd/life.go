package containerd

import (
	"context"
	"fmt"
	"io"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cni"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// life is one container's life.
//
// The order of calls is that of `ctr run`: snapshot and container record,
// task, wait, start; then task and container are deleted. Created is when the
// task is there: the runtime has made the container by then. The wait is
// registered between created and start. Removed is when the record and the
// snapshot are deleted.
type life struct {
	streams
	env *environment
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

	attached  *cni.Attachment
	container client.Container
	live      client.Task
}

// streams are a process's life with its standard streams.
type streams struct {
	apirun.Life
	stdin io.Reader // the payload's, where it has one
	also  io.Writer // gets the output too, where given
	io    *fifos
}

// open makes the FIFOs, as part of making the task.
func (s *streams) open(kit *engine.Kit, id string) (cio.IO, error) {
	var out io.Writer = s.Stdout
	if s.also != nil {
		out = io.MultiWriter(s.Stdout, s.also)
	}
	f, err := openFIFOs(kit, id, s.stdin, out, s.Stderr)
	if err != nil {
		return nil, err
	}
	s.io, s.Drain = f, &f.Drain
	return f, nil
}

// waiter is a task, or a process that was executed in one.
type waiter interface {
	Wait(ctx context.Context) (<-chan client.ExitStatus, error)
}

// watch registers the wait for a process's end.
func (s *streams) watch(stay context.Context, p waiter) error {
	w, err := p.Wait(stay)
	if err != nil {
		return err
	}
	s.Watch(func() (int, error) {
		e := <-w
		return int(e.ExitCode()), e.Error()
	})
	return nil
}

func (s *streams) Release(context.Context) *record.Failure {
	if s.io == nil {
		return nil
	}
	return unclean("removing the FIFOs", s.io.Close())
}

func unclean(what string, err error) *record.Failure {
	if err == nil {
		return nil
	}
	return &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("%s: %v", what, err)}
}

func (l *life) Up(ctx, stay context.Context) (err error) {
	ev := l.Res.Events
	l.Phase("creating the container")
	ev[record.Request] = stamp.Now()
	if l.network != nil {
		l.Phase("giving the container a network")
		if l.attached, err = l.network.Attach(ctx, l.Task.Name); err != nil {
			return err
		}
		l.join, l.address = l.attached.Path, l.attached.Address.String()
		l.Step("network", stamp.Now())
		l.Phase("creating the container")
	}
	l.container, err = l.env.trials.NewContainer(ctx, l.Task.Name, l.env.settings.container(l.Task, l.join)...)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.Step("container", at)
	l.Phase("creating the task")
	l.live, err = l.container.NewTask(ctx, func(id string) (cio.IO, error) { return l.open(l.env.kit, id) })
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created] = at

	l.Phase("registering the wait for the task's end")
	if err = l.watch(stay, l.live); err != nil {
		return err
	}
	l.Step("waiting", stamp.Now())

	l.Phase("starting the task")
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

func (l *life) Down(ctx context.Context) error {
	if l.look != nil {
		l.Phase("looking at the container")
		if err := l.look(ctx, l.container); err != nil {
			return err
		}
	}
	l.Phase("removing the task")
	if _, err := l.live.Delete(ctx); err != nil {
		return err
	}
	l.Step("task-removed", stamp.Now())
	if l.attached != nil {
		l.Phase("removing the network")
		if err := l.attached.Detach(ctx); err != nil {
			return err
		}
		l.Step("network-removed", stamp.Now())
	}
	l.Phase("removing the container")
	return l.container.Delete(ctx, client.WithSnapshotCleanup)
}

func (l *life) OOM(ctx context.Context) bool { return l.env.oom.killed(ctx, l.Task.Name) }

func (l *life) Release(ctx context.Context) *record.Failure {
	f := unclean("removing the network", l.attached.Detach(ctx))
	if s := l.streams.Release(ctx); f == nil {
		f = s
	}
	return f
}

func (l *life) Place(context.Context) (engine.Place, error) {
	p := l.env.place(l.address)
	if !l.env.runtime.foreign { // else the payload is a process of another kernel
		p.PID = int(l.live.Pid())
	}
	return p, nil
}

// place is where a container with an address is, or one without.
func (env *environment) place(address string) engine.Place {
	p := engine.Place{Address: address}
	if address == "" {
		p.NoAddress = "the container has no network but its own loopback (network=none)"
		if why := env.Fact("network-reason"); why != "" {
			p.NoAddress += ": " + why
		}
	}
	return p
}
