package podman

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// restLife is one container's life by the REST service, in podman-remote's
// order: create, attach, start, wait, remove. To attach to a container that
// does not run makes podman prepare it (the runtime's create), so that this
// lies between the events created and start, with a step of its own. The wait
// is asked for when start has returned: podman has none that waits for a start
// first. It polls by itself; see waitInterval and waitYoung.
type restLife struct {
	apirun.Life
	env  *environment
	body []byte // of create
	look func(ctx context.Context, name string) error
	oom  func() bool
}

// waitInterval is how often the service looks whether a container has ended. Its
// default is 250 ms, all of which a short container would then take.
const waitInterval = time.Millisecond

// waitYoung is for how long it is asked to. Looking each millisecond takes an
// eighth of a processor, which a benchmark beside it would pay for: an older
// container's end is asked for when its output has ended.
const waitYoung = 100 * time.Millisecond

func (env *environment) Prepare(_ context.Context, task engine.Task) (apirun.Container, *record.Failure) {
	body, err := env.settings.spec(task)
	if err != nil {
		return nil, &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
	return &restLife{Life: apirun.NewLife(task), env: env, body: body, look: env.look, oom: env.Group.OOMWatch()}, nil
}

func (l *restLife) path() string { return "/containers/" + l.Task.Name }

func (l *restLife) Up(ctx, stay context.Context) error {
	ev, r := l.Res.Events, l.env.rest
	l.Phase("creating the container")
	ev[record.Request] = stamp.Now()
	var made struct {
		ID string `json:"Id"`
	}
	err := r.call(ctx, http.MethodPost, "/containers/create", nil, l.body, &made)
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.env.made.Store(l.Task.Name, made.ID)
	ev[record.Created] = at

	l.Phase("attaching to the container")
	conn, in, err := r.takeOver(stay, l.path()+"/attach?stdout=true&stderr=true&stream=true", nil)
	if err != nil {
		return err
	}
	l.Frames(conn, in)
	l.Step("attached", stamp.Now())

	l.Phase("starting the container")
	ev[record.Start] = stamp.Now()
	err = r.call(ctx, http.MethodPost, l.path()+"/start", nil, nil, nil)
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	held := l.Holding() // and so left in peace
	l.Watch(func() (int, error) {
		if !held {
			young, cancel := context.WithTimeout(stay, waitYoung)
			status, err := l.wait(young)
			late := young.Err() != nil
			cancel()
			if err == nil || !late {
				return status, err
			}
		}
		<-l.Drain.Done
		return l.wait(stay)
	})
	return nil
}

// wait returns the status that the container ended with, once it has.
func (l *restLife) wait(ctx context.Context) (status int, err error) {
	err = l.env.rest.call(ctx, http.MethodPost, l.path()+"/wait",
		url.Values{"condition": {"exited"}, "interval": {waitInterval.String()}}, nil, &status)
	return status, err
}

func (l *restLife) Stop(ctx context.Context, s engine.Stop) error {
	return l.env.rest.call(ctx, http.MethodPost, l.path()+"/stop", url.Values{"timeout": {graceSeconds(s)}}, nil, nil)
}

func (l *restLife) Down(ctx context.Context) error {
	if l.look != nil {
		l.Phase("inspecting the container")
		if err := l.look(ctx, l.Task.Name); err != nil {
			return err
		}
		l.Phase("removing the container")
	}
	return l.env.rest.call(ctx, http.MethodDelete, l.path(), url.Values{"v": {"true"}, "volumes": {"true"}}, nil, nil)
}

func (l *restLife) OOM(context.Context) bool { return l.oom() }

func (l *restLife) Place(ctx context.Context) (engine.Place, error) {
	return l.env.placeOf(ctx, l.Task), nil
}
