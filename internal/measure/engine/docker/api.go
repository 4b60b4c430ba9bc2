package docker

import (
	"context"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// life is one container's life by the API.
//
// The order of calls is that of `docker run`: create, attach, register the
// wait, start, then remove. Attach and wait lie between the events created and
// start, with steps of their own, so that start begins when all is prepared.
type life struct {
	apirun.Life
	env    *environment
	create client.ContainerCreateOptions
	look   func(ctx context.Context, id string) error
	began  time.Time

	id string
}

func (env *environment) Prepare(_ context.Context, task engine.Task) (apirun.Container, *record.Failure) {
	return &life{Life: apirun.NewLife(task), env: env, create: env.settings.options(task), look: env.look, began: time.Now()}, nil
}

func (l *life) Up(ctx, stay context.Context) error {
	ev, d := l.Res.Events, l.env.d

	l.Phase("creating the container")
	ev[record.Request] = stamp.Now()
	made, err := d.ContainerCreate(ctx, l.create)
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created], l.id = at, made.ID

	l.Phase("attaching to the container")
	att, err := d.ContainerAttach(stay, l.id, client.ContainerAttachOptions{Stream: true, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	l.Step("attached", stamp.Now())
	l.Frames(att.Conn, att.Reader)

	l.Phase("registering the wait for the container's end")
	w := d.ContainerWait(stay, l.id, client.ContainerWaitOptions{Condition: container.WaitConditionNextExit})
	// The client's channels must be received from, or its goroutine stays for ever.
	l.Watch(func() (int, error) {
		select {
		case r := <-w.Result:
			if r.Error != nil && r.Error.Message != "" {
				return 0, errors.New(r.Error.Message)
			}
			return int(r.StatusCode), nil
		case err := <-w.Error:
			return 0, err
		}
	})
	l.Step("waiting", stamp.Now())

	l.Phase("starting the container")
	ev[record.Start] = stamp.Now()
	_, err = d.ContainerStart(ctx, l.id, client.ContainerStartOptions{})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	return nil
}

func (l *life) Stop(ctx context.Context, s engine.Stop) error {
	seconds := graceSeconds(s)
	_, err := l.env.d.ContainerStop(ctx, l.id, client.ContainerStopOptions{Timeout: &seconds})
	return err
}

// graceSeconds is the grace period as Docker takes it: whole seconds, a part
// of one counts as one.
func graceSeconds(s engine.Stop) int {
	return int((s.Grace + time.Second - 1) / time.Second)
}

func (l *life) Down(ctx context.Context) error {
	if l.look != nil {
		l.Phase("inspecting the container")
		if err := l.look(ctx, l.id); err != nil {
			return err
		}
		l.Phase("removing the container")
	}
	_, err := l.env.d.ContainerRemove(ctx, l.id, client.ContainerRemoveOptions{RemoveVolumes: true})
	return err
}

func (l *life) OOM(ctx context.Context) bool { return l.env.d.oomKilled(ctx, l.Task.Name, l.began) }

func (l *life) Place(ctx context.Context) (engine.Place, error) {
	return l.env.placeOf(ctx, l.Task), nil
}
