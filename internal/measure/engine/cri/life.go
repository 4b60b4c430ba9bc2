package cri

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// The names of the steps.
const (
	stepVolumes   = "volumes"
	stepRunning   = "last-seen-running" // of a polled end: it came after this
	stepContainer = "container-removed"
	stepStopped   = "sandbox-stopped"
)

// life is one pod with one container, from RunPodSandbox to RemovePodSandbox.
type life struct {
	s        *server
	settings settings
	task     engine.Task
	events   *events // nil: the end is polled
	polled   bool    // the log is
	// look, where given, is called when the container has ended, before it is
	// removed: never in a trial, only for the proof.
	look func(ctx context.Context, pod, container string) error

	// watched, where given, is called with the container's id when its end can
	// be told: for tests.
	watched func(container string)
	// beside, where given, is whose pod the container is made in.
	beside  *life
	volumes *volumes
	held    bool // ends need not be told to the millisecond

	res   engine.Result
	phase string // what is being done, for messages
	pod   string // ids; empty until they are known
	ctr   string
	asked bool // RunPodSandbox was called, so that there may be a pod
	log   *logFile
	end   *ending
}

// run carries the life out. On return the pod is gone, unless left says so.
func (l *life) run(ctx context.Context) (res engine.Result, left bool) {
	ctx, cancel := context.WithTimeout(ctx, l.task.Limit)
	defer cancel()
	err := l.prepare()
	if err == nil {
		restore := stamp.Quiet()
		err = l.live(ctx)
		restore()
	}
	return l.settle(ctx, err)
}

// prepare is outside of what is measured: the pod's log directory, and its
// watch.
func (l *life) prepare() (err error) {
	l.res.Events = make(map[record.Event]int64, 10)
	l.phase = "making the pod's log directory"
	if err := os.MkdirAll(l.logs(), 0o755); err != nil {
		return &engine.Error{Class: record.HarnessError, Text: l.phase, Err: err}
	}
	l.log, err = followLog(filepath.Join(l.logs(), l.names().log), l.task.OutputLimit, l.polled)
	if err != nil {
		return &engine.Error{Class: record.HarnessError, Text: "following the container's log", Err: err}
	}
	return nil
}

// podName is the name of the pod, which is that of its first container.
func (l *life) podName() string {
	if l.beside != nil {
		return l.beside.podName()
	}
	return l.task.Name
}

// logs is the pod's directory of logs.
func (l *life) logs() string { return filepath.Join(l.settings.logs, l.podName()) }

// names are those of the container within its pod.
func (l *life) names() called {
	if l.beside != nil {
		return called{container: l.task.Name, log: l.task.Name + ".log"}
	}
	return first
}

// live is the measured path.
func (l *life) live(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends a poll that is still under way
	if err := l.up(ctx); err != nil {
		return err
	}
	l.watch(ctx)
	if l.task.Stop != nil {
		if err := l.ready(ctx); err != nil {
			return err
		}
		if err := l.stop(ctx, l.task.Stop.Grace); err != nil {
			return err
		}
	}
	if err := l.wait(ctx); err != nil {
		return err
	}
	return l.down(ctx)
}

// up brings the container to run.
func (l *life) up(ctx context.Context) error {
	ev, rt := l.res.Events, l.s.runtime
	pod := l.settings.pod(l.podName())

	ev[record.Request] = stamp.Now()
	if len(l.task.Mounts) > 0 {
		l.phase = "making the pod's volumes"
		if err := l.volumes.make(l.task.Mounts); err != nil {
			return &engine.Error{Class: record.HarnessError, Text: l.phase, Err: err}
		}
		l.res.Steps = append(l.res.Steps, record.Step{Name: stepVolumes, At: stamp.Now()})
	}
	if l.beside != nil {
		l.pod = l.beside.pod
	} else {
		l.phase, l.asked = "making the pod sandbox", true
		made, err := rt.RunPodSandbox(ctx, &v1.RunPodSandboxRequest{Config: pod, RuntimeHandler: l.settings.handler})
		at := stamp.Now()
		if err != nil {
			return err
		}
		ev[record.Sandbox], l.pod = at, made.GetPodSandboxId()
	}

	l.phase, l.asked = "creating the container", true
	config := l.settings.container(l.task, l.names(), l.volumes.mounts)
	ctr, err := rt.CreateContainer(ctx, &v1.CreateContainerRequest{PodSandboxId: l.pod, Config: config, SandboxConfig: pod})
	at := stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Created], l.ctr = at, ctr.GetContainerId()
	if l.events != nil {
		l.end = l.events.await(l.ctr)
	}
	if l.watched != nil {
		l.watched(l.ctr)
	}

	l.phase = "starting the container"
	ev[record.Start] = stamp.Now()
	_, err = rt.StartContainer(ctx, &v1.StartContainerRequest{ContainerId: l.ctr})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	return nil
}

// watch asks for the container's end beside whatever else is done, where
// nobody tells of it, until it has come or ctx is over.
func (l *life) watch(ctx context.Context) {
	if l.events != nil {
		return
	}
	l.end = newEnding()
	go func(e *ending) { e.tell(l.s.pollEnd(ctx, l.ctr, l.held, e.hurry)) }(l.end)
}

var errNotReady = errors.New("the payload ended before it had said anything")

// ready awaits the payload's first byte.
func (l *life) ready(ctx context.Context) error {
	l.phase = "waiting for the payload's first byte"
	select {
	case <-l.log.out.Ready():
		return nil
	case <-l.end.over:
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.end.err != nil {
		return l.end.err
	}
	// The log may come after the end.
	select {
	case <-l.log.out.Ready():
		return nil
	case <-time.After(lateOutput):
		return errNotReady
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lateOutput is how long the log may be behind the end of its container.
const lateOutput = 200 * time.Millisecond

// stop asks the server to stop the container.
func (l *life) stop(ctx context.Context, grace time.Duration) error {
	l.phase = "stopping the container"
	l.res.Events[record.Stop] = stamp.Now()
	_, err := l.s.runtime.StopContainer(ctx, &v1.StopContainerRequest{ContainerId: l.ctr, Timeout: wholeSeconds(grace)})
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Stopped] = at
	l.end.soon()
	return nil
}

// wholeSeconds is a grace period as the CRI takes it: a part of a second
// counts as one.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// lostAfter is how long an event may be behind the state that it tells of.
const lostAfter = time.Second

// wait waits for the container's end, and reads its status.
func (l *life) wait(ctx context.Context) error {
	l.phase = "waiting for the container's end"
	e, err := l.awaitEnd(ctx)
	if err != nil {
		return err
	}
	if e.running != 0 {
		l.res.Steps = append(l.res.Steps, record.Step{Name: stepRunning, At: e.running})
	}
	l.res.Events[record.Exit] = e.at
	if e.status == nil {
		l.phase = "asking for the container's status"
		r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr})
		if err != nil {
			return err
		}
		e.status = r.GetStatus()
	}
	code := int(e.status.GetExitCode())
	l.res.Exit = &code
	if e.status.GetReason() == "OOMKilled" {
		l.res.Failure = outOfMemory()
	}
	if l.look != nil {
		l.phase = "looking at the container"
		return l.look(ctx, l.pod, l.ctr)
	}
	return nil
}

// awaitEnd waits for the end to be told. Where that is by an event, the
// container's state is looked at now and then, so that a lost event is a
// failure with a name, and not a time-out.
func (l *life) awaitEnd(ctx context.Context) (ended, error) {
	over := false
	for {
		select {
		case <-l.end.over:
			return l.end.ended, l.end.err
		case <-ctx.Done():
			return ended{}, ctx.Err()
		case <-time.After(lostAfter):
		}
		if l.events == nil {
			continue
		}
		if over {
			return ended{}, &engine.Error{Class: record.EngineError,
				Text: "the container has ended, and the CRI server has sent no event of it (does somebody else read its events?)"}
		}
		r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr})
		over = err == nil && r.GetStatus().GetState() == v1.ContainerState_CONTAINER_EXITED
	}
}

// down takes container and pod away.
func (l *life) down(ctx context.Context) error {
	rt := l.s.runtime
	l.phase = "removing the container"
	if _, err := rt.RemoveContainer(ctx, &v1.RemoveContainerRequest{ContainerId: l.ctr}); err != nil {
		return err
	}
	at := stamp.Now()
	l.res.Steps = append(l.res.Steps, record.Step{Name: stepContainer, At: at})
	if len(l.task.Mounts) > 0 {
		l.phase = "removing the pod's volumes"
		if err := l.volumes.remove(); err != nil {
			return &engine.Error{Class: record.UncleanEnd, Text: l.phase, Err: err}
		}
		at = stamp.Now()
	}
	if l.beside != nil {
		l.res.Events[record.Removed] = at
		return nil
	}
	l.phase = "stopping the pod sandbox"
	if _, err := rt.StopPodSandbox(ctx, &v1.StopPodSandboxRequest{PodSandboxId: l.pod}); err != nil {
		return err
	}
	l.res.Steps = append(l.res.Steps, record.Step{Name: stepStopped, At: stamp.Now()})
	l.phase = "removing the pod sandbox"
	_, err := rt.RemovePodSandbox(ctx, &v1.RemovePodSandboxRequest{PodSandboxId: l.pod})
	at = stamp.Now()
	if err != nil {
		return err
	}
	l.res.Events[record.Removed] = at
	return nil
}
