package portable

import (
	"context"
	"fmt"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// settings are how an environment's containers are made, by either client.
type settings struct {
	image   string // its tag
	runID   string
	runtime string // "" is not named
	network string // "" is not named
	limits  engine.Limits
	seccomp bool // switched off
}

func settingsFor(spec engine.Spec, runID, tag string) settings {
	s := settings{image: tag, runID: runID, limits: spec.Limits, seccomp: spec.Level(engine.Seccomp) == "off"}
	if l := spec.Level(engine.Runtime); l != engine.DefaultLevel {
		s.runtime = l
	}
	if l := spec.Level(engine.Network); l != engine.DefaultLevel {
		s.network = l
	}
	return s
}

// options are the settings for the API: as the full half has them, with no log, no
// init of the engine's and no swap beyond a memory limit.
func (s settings) options(task engine.Task) client.ContainerCreateOptions {
	noInit := false
	host := &container.HostConfig{
		LogConfig: container.LogConfig{Type: "none"}, NetworkMode: container.NetworkMode(s.network), Runtime: s.runtime, Init: &noInit,
	}
	if s.seccomp {
		host.SecurityOpt = []string{"seccomp=unconfined"}
	}
	if s.limits.CPUs > 0 {
		host.NanoCPUs = int64(s.limits.CPUs * 1e9)
	}
	if n := s.limits.MemoryBytes; n > 0 {
		host.Memory, host.MemorySwap = n, n
	}
	return client.ContainerCreateOptions{Name: task.Name, HostConfig: host, Config: &container.Config{
		Image: s.image, Entrypoint: task.Argv[:1], Cmd: task.Argv[1:], Env: task.Env, AttachStdout: true, AttachStderr: true,
		Labels: map[string]string{engine.Label: s.runID},
	}}
}

// byAPI is an environment whose containers are carried through their lives by calls.
type byAPI struct {
	d        *Daemon
	settings settings
	ledger   *Ledger
}

// run carries one container through its whole life. The error is of the ledger.
func (e *byAPI) run(ctx context.Context, task engine.Task) (engine.Result, error) {
	thing := e.d.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, err
	}
	l := newLife(e.d, task)
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	restore := stamp.Quiet()
	err := l.live(within, e.settings.options(task))
	restore()
	if err != nil {
		l.res.Failure = l.failed(within, err)
		over := within.Err() != nil
		cancel() // ends what is still waited for
		if rerr := e.d.removeContainer(ctx, task.Name); rerr != nil {
			l.res.Failure.Text += "; " + rerr.Error()
			l.gather()
			return l.res, nil // the ledger keeps it
		}
		if l.id == "" && over {
			l.gather()
			return l.res, nil // it may be made yet: it is looked for at the end once more
		}
	}
	l.gather()
	return l.res, e.ledger.Gone(thing)
}

// live is the measured path.
func (l *life) live(ctx context.Context, create client.ContainerCreateOptions) error {
	if err := l.up(ctx, create); err != nil {
		return err
	}
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

// exec holds a container, executes a program in it, and ends the container. The result
// is the execution's alone.
func (e *byAPI) exec(ctx context.Context, task engine.Task, argv []string) (engine.Result, map[string]float64, error) {
	thing := e.d.thing(engine.KindContainer, task.Name)
	if err := e.ledger.Made(thing); err != nil {
		return engine.Result{}, nil, err
	}
	within, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	l := newLife(e.d, task)
	x := newLife(e.d, engine.Task{Name: task.Name, Argv: argv, Limit: task.Limit})
	err := l.up(within, e.settings.options(task))
	if err == nil {
		err = l.ready(within)
	}
	var told map[string]float64
	if err != nil {
		x.res.Failure = l.failed(within, err)
	} else {
		restore := stamp.Quiet()
		err = x.execute(within, l.id)
		restore()
		if err != nil {
			x.res.Failure = x.failed(within, err)
		} else {
			told = e.d.told(within, l.id)
		}
	}
	cancel()
	if rerr := e.d.removeContainer(ctx, task.Name); rerr != nil {
		if x.res.Failure == nil {
			x.res.Failure = &record.Failure{Class: record.UncleanEnd, Text: rerr.Error()}
		}
		l.gather()
		x.gather()
		return x.res, nil, nil
	}
	l.gather()
	x.gather()
	return x.res, told, e.ledger.Gone(thing)
}

// execute is an execution's measured path.
func (l *life) execute(ctx context.Context, id string) error {
	l.phase = "creating the execution"
	l.res.Events[record.Exec] = stamp.Now()
	made, err := l.d.ExecCreate(ctx, id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Cmd: l.task.Argv})
	if err != nil {
		return err
	}
	l.step("created")
	l.phase = "starting the execution"
	att, err := l.d.ExecAttach(ctx, made.ID, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	l.read(&att.HijackedResponse)
	l.phase = "waiting for the end of the execution"
	select {
	case <-l.drained:
	case <-ctx.Done():
		return ctx.Err()
	}
	for {
		seen, err := l.d.ExecInspect(ctx, made.ID, client.ExecInspectOptions{})
		if err != nil {
			return err
		}
		if !seen.Running {
			status := seen.ExitCode
			l.res.Events[record.Exit], l.res.Exit = stamp.Now(), &status
			if status == 126 || status == 127 {
				return fmt.Errorf("the program could not be executed: %s", lastLine(append(l.stderr.Kept(), l.stdout.Kept()...)))
			}
			return nil
		}
		select { // as the full half asks
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
