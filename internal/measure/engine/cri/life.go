package cri

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
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
	apirun.Life
	env    *environment
	s      *server
	events *events // nil: the end is polled
	oom    func() bool

	// watched, where given, is called with the container's id when its end can
	// be told: for tests.
	watched func(container string)
	// beside, where given, is whose pod the container is made in.
	beside  *life
	volumes *volumes

	pod, ctr string // ids; empty until they are known
	log      *logFile
	end      *ending
}

// begin is outside of what is measured: the pod's log directory, and its watch.
func (l *life) begin() (err error) {
	if err := os.MkdirAll(l.logs(), 0o755); err != nil {
		return fmt.Errorf("making the pod's log directory: %w", err)
	}
	l.log, err = followLog(filepath.Join(l.logs(), l.names().log), l.Task.OutputLimit, l.env.polled)
	if err != nil {
		return fmt.Errorf("following the container's log: %w", err)
	}
	l.Stdout, l.Stderr = l.log.out, l.log.err
	return nil
}

// podName is the name of the pod, which is that of its first container.
func (l *life) podName() string {
	if l.beside != nil {
		return l.beside.podName()
	}
	return l.Task.Name
}

// logs is the pod's directory of logs.
func (l *life) logs() string { return filepath.Join(l.env.settings.logs, l.podName()) }

// names are those of the container within its pod.
func (l *life) names() called {
	if l.beside != nil {
		return called{container: l.Task.Name, log: l.Task.Name + ".log"}
	}
	return first
}

func (l *life) Up(ctx, stay context.Context) error {
	ev, rt, settings := l.Res.Events, l.s.runtime, l.env.settings
	pod := settings.podFor(l.Task, l.podName())

	ev[record.Request] = stamp.Now()
	if len(l.Task.Mounts) > 0 {
		if err := l.volumes.make(l.Task.Mounts); err != nil {
			return &engine.Error{Class: record.HarnessError, Text: "making the pod's volumes", Err: err}
		}
		l.Step(stepVolumes, stamp.Now())
	}
	if l.beside != nil {
		l.pod = l.beside.pod
	} else {
		l.Phase("making the pod sandbox")
		made, err := rt.RunPodSandbox(ctx, &v1.RunPodSandboxRequest{Config: pod, RuntimeHandler: settings.handler})
		at := stamp.Now()
		if err != nil {
			return err
		}
		ev[record.Sandbox], l.pod = at, made.GetPodSandboxId()
	}

	l.Phase("creating the container")
	config := settings.container(l.Task, l.names(), l.volumes.mounts)
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

	l.Phase("starting the container")
	ev[record.Start] = stamp.Now()
	_, err = rt.StartContainer(ctx, &v1.StartContainerRequest{ContainerId: l.ctr})
	at = stamp.Now()
	if err != nil {
		return err
	}
	ev[record.Started] = at
	if l.events == nil { // nobody tells of the end
		l.end = newEnding()
		held := l.Holding()
		go func(e *ending) {
			p := endPoll{s: l.s, id: l.ctr, held: held, hurry: e.hurry}
			e.tell(p.pollEnd(stay))
		}(l.end)
	}
	l.End = &l.end.End
	return nil
}

// lateOutput is how long the log may be behind the end of its container.
const lateOutput = 200 * time.Millisecond

func (l *life) Stop(ctx context.Context, s engine.Stop) error {
	_, err := l.s.runtime.StopContainer(ctx, &v1.StopContainerRequest{ContainerId: l.ctr, Timeout: wholeSeconds(s.Grace)})
	at := stamp.Now()
	if err != nil {
		return err
	}
	l.Res.Events[record.Stopped] = at
	l.end.soon()
	return nil
}

// wholeSeconds is a grace period as the CRI takes it: a part of a second
// counts as one.
func wholeSeconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }

// lostAfter is how long an event may be behind the state that it tells of.
const lostAfter = time.Second

// Await waits for the container's end and reads its status.
func (l *life) Await(ctx context.Context) error {
	if err := l.awaitEnd(ctx); err != nil {
		return err
	}
	if l.end.running != 0 {
		l.Step(stepRunning, l.end.running)
	}
	if l.end.status == nil {
		l.Phase("asking for the container's status")
		r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr})
		if err != nil {
			return err
		}
		l.end.status = r.GetStatus()
		l.End.Status = int(l.end.status.GetExitCode())
	}
	if l.killed() {
		l.Res.Failure = adapter.OutOfMemory()
	}
	return nil
}

// killed says whether the server tells of a kill for want of memory.
func (l *life) killed() bool { return l.end.status.GetReason() == "OOMKilled" }

// awaitEnd waits for the end to be told. Where that is by an event, the
// container's state is looked at now and then, so that a lost event is a
// failure with a name, and not a time-out.
func (l *life) awaitEnd(ctx context.Context) error {
	over := false
	for {
		select {
		case <-l.End.Told:
			return l.End.Err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lostAfter):
		}
		if l.events == nil {
			continue
		}
		if over {
			return &engine.Error{Class: record.EngineError,
				Text: "the container has ended, and the CRI server has sent no event of it (does somebody else read its events?)"}
		}
		r, err := l.s.runtime.ContainerStatus(ctx, &v1.ContainerStatusRequest{ContainerId: l.ctr})
		over = err == nil && r.GetStatus().GetState() == v1.ContainerState_CONTAINER_EXITED
	}
}

// Down removes the container and its pod.
func (l *life) Down(ctx context.Context) error {
	rt := l.s.runtime
	if look := l.env.look; look != nil {
		l.Phase("looking at the container")
		if err := look(ctx, l.pod, l.ctr); err != nil {
			return err
		}
		l.Phase("removing the container")
	}
	if _, err := rt.RemoveContainer(ctx, &v1.RemoveContainerRequest{ContainerId: l.ctr}); err != nil {
		return err
	}
	at := stamp.Now()
	l.Step(stepContainer, at)
	if len(l.Task.Mounts) > 0 {
		if err := l.volumes.remove(); err != nil {
			return &engine.Error{Class: record.UncleanEnd, Text: "removing the pod's volumes", Err: err}
		}
		at = stamp.Now()
	}
	if l.beside != nil {
		l.Res.Events[record.Removed] = at
		return nil
	}
	l.Phase("stopping the pod sandbox")
	if _, err := rt.StopPodSandbox(ctx, &v1.StopPodSandboxRequest{PodSandboxId: l.pod}); err != nil {
		return err
	}
	l.Step(stepStopped, stamp.Now())
	l.Phase("removing the pod sandbox")
	_, err := rt.RemovePodSandbox(ctx, &v1.RemovePodSandboxRequest{PodSandboxId: l.pod})
	return err
}

func (l *life) OOM(context.Context) bool { return l.killed() || l.oom() }

func (l *life) Release(context.Context) (f *record.Failure) {
	fail := func(class record.Class, what string, err error) {
		if err != nil && f == nil {
			f = &record.Failure{Class: class, Text: what + err.Error()}
		}
	}
	if l.events != nil && l.ctr != "" {
		l.events.forget(l.ctr)
	}
	fail(record.UncleanEnd, "removing the pod's volumes: ", l.volumes.remove())
	fail(record.BadOutput, "", l.log.Stop())
	logs := l.logs()
	if l.beside != nil {
		logs = filepath.Join(logs, l.names().log)
	}
	fail(record.UncleanEnd, "removing the pod's logs: ", safepath.RemoveAll(logs))
	return f
}
