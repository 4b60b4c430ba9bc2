package clirun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Holding says how a container is held by commands: the same as are run for a
// trial, on a launcher of its own, so that the stamps are the same too.
type Holding struct {
	// Plan is the container's life up to where its payload runs, without a
	// stop. Its Task.Limit bounds the time until the payload's first byte.
	Plan Plan
	// End gives the further steps, which stop the container and remove it.
	// stop is nil where it has ended by itself, or never began: then only what
	// is left is to be removed. nil: there is nothing to remove, and a stop is
	// SIGTERM, the grace and SIGKILL, to the payload's command or to the
	// process in the plan's pid file.
	End func(stop *engine.Stop) []Step
	// ToPayload: the signals of a stop go to the payload itself, as a user's
	// kill, since a process of the engine's is between that hands none on; where
	// the payload is not found, to that process. End gives what comes after it.
	ToPayload bool
	// Place says where the container is, once its payload has spoken; pid is
	// the payload's where it is found among the launcher's descendants, else 0.
	// nil: on the host's network, held by us.
	Place func(ctx context.Context, pid int) engine.Place
	// After, where given, is called once, when all is over or Hold has failed,
	// with what came of it: to clear away what a failure left, and what was made for the container. It
	// may add a failure.
	After func(ctx context.Context, res *engine.Result)
}

// endLimit is what stopping and removing may take beside the grace.
const endLimit = 60 * time.Second

// HostPlace is the place of a container on the host's network that a process
// of ours holds.
func HostPlace(_ context.Context, pid int) engine.Place {
	return engine.Place{Address: "127.0.0.1", PID: pid, Background: true}
}

// BySignals are the steps that end a container with no stop of its engine's:
// SIGTERM, and SIGKILL after the grace. A container that ends meanwhile needs
// neither.
func BySignals(stop *engine.Stop) []Step {
	if stop == nil {
		return nil
	}
	return []Step{
		{Begin: record.Stop, MayFail: true, Cmd: probe.Command{Signal: int(unix.SIGTERM)}},
		{MayFail: true, Name: "grace is over",
			Cmd: probe.Command{Signal: int(unix.SIGKILL), Await: probe.AwaitGrace, Grace: stop.Grace}},
	}
}

// Hold is engine.Holder's for engines that are commands. The error is an
// *engine.Error, or ctx's.
func (b *Base) Hold(ctx context.Context, h Holding) (*Held, error) {
	name := h.Plan.Task.Name
	early := func(err error) (*Held, error) {
		if h.After != nil {
			h.After(context.WithoutCancel(ctx), &engine.Result{})
		}
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return early(fmt.Errorf("holding %s: %w", name, err))
	}
	b.watchOOM(&h.Plan)
	if last := len(h.Plan.Steps) - 1; last == h.Plan.Payload && h.Plan.Steps[last].Cmd.PidFile == "" {
		h.Plan.Steps[last].Cmd.Background = true
	}
	l, err := b.pool.take(ctx)
	if err != nil {
		return early(err)
	}
	job, err := l.Hold(h.Plan.job())
	if err != nil {
		return early(&engine.Error{Class: record.HarnessError, Text: broken("holding "+name, err, b.pool.drop(l)).Failure.Text})
	}
	held := &Held{base: b, how: h, launcher: l, job: job, payload: -1}
	if err := held.await(ctx); err != nil {
		return nil, err
	}
	place := HostPlace
	if h.Place != nil {
		place = h.Place
	}
	pid := adapter.FindPayload(l.PID(), h.Plan.Task.Argv)
	held.place = place(ctx, pid)
	if h.ToPayload && pid != 0 {
		// A number may be another process's by the time of the stop.
		if held.payload, err = unix.PidfdOpen(pid, 0); err != nil {
			held.payload = -1 // it has ended
		}
	}
	b.held(held, true)
	return held, nil
}

// AsHeld is what Hold gives, for those who add nothing to it.
func AsHeld(h *Held, err error) (engine.Held, error) {
	if err != nil {
		return nil, err
	}
	return h, nil
}

// Held is a container that is held by commands.
type Held struct {
	base     *Base
	how      Holding
	launcher *probe.Launcher
	job      *probe.Holding
	place    engine.Place
	payload  int // its pidfd, where its signals go to itself; else -1

	once sync.Once
	res  engine.Result
	err  error
}

// await waits for the payload's first byte. Where that does not come, all is
// cleared away.
func (h *Held) await(ctx context.Context) error {
	limit := time.NewTimer(h.how.Plan.Task.Limit)
	defer limit.Stop()
	timeout := false
	select {
	case <-h.job.Ready():
		return nil
	case <-h.job.Over():
	case <-limit.C:
		timeout = true
	case <-ctx.Done():
	}
	select {
	case <-h.job.Ready(): // at the same moment
		if !timeout && ctx.Err() == nil {
			return nil
		}
	default:
	}
	task := &h.how.Plan.Task
	clear := context.WithoutCancel(ctx)
	switch {
	case ctx.Err() != nil || timeout:
		if h.how.Plan.Gentle > 0 {
			h.how.Plan.endGently(h.launcher.PID(), h.job.Over())
		}
		res, err := h.job.Abort(clear)
		if err == nil {
			res.TimedOut = true
		}
		h.over(clear, res, err)
		if f := h.res.Failure; f != nil && f.Class == record.TimeOut {
			f.Text = strings.Replace(f.Text, "did not end within", "was not ready within", 1)
		}
	default:
		h.finish(clear, nil)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("holding %s: %w", task.Name, err)
	}
	f := cmp.Or(h.res.Failure, &record.Failure{Class: record.NoProof, Text: "the payload ended before it had said anything"})
	return &engine.Error{Class: f.Class, Text: fmt.Sprintf("holding %s: %s", task.Name, f.Text)}
}

func (h *Held) Place() engine.Place { return h.place }

// Task is what is held.
func (h *Held) Task() engine.Task { return h.how.Plan.Task }

// ContainerName is its name.
func (h *Held) ContainerName() string { return h.Task().Name }

// lookLimit bounds a look at the launcher.
const lookLimit = 5 * time.Second

func (h *Held) Output() (stdout, stderr []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	job, err := h.job.State(ctx)
	if p := h.how.Plan.Payload; err == nil && p < len(job.Commands) {
		return job.Commands[p].Stdout, job.Commands[p].Stderr
	}
	return nil, nil
}

func (h *Held) Ended() <-chan struct{} { return h.job.Over() }

func (h *Held) End(ctx context.Context, stop engine.Stop) (engine.Result, error) {
	h.once.Do(func() { h.end(ctx, stop) })
	return h.res, h.err
}

func (h *Held) end(ctx context.Context, stop engine.Stop) {
	defer h.base.held(h, false)
	select {
	case <-h.job.Over():
		h.finish(ctx, nil)
	default:
		h.finish(ctx, &stop)
	}
}

// forget ends a container whose holder has not: its life is no result. The
// error is for what may be left of it.
func (h *Held) forget(ctx context.Context) (err error) {
	h.once.Do(func() {
		h.end(ctx, engine.Stop{})
		switch f := h.res.Failure; {
		case f == nil:
			h.res.Failure = &record.Failure{Class: record.HarnessError, Text: "its holder has not ended it"}
		case f.Class == record.UncleanEnd || f.Class == record.HarnessError: // else it is about the payload
			err = fmt.Errorf("ending the forgotten container %s: %s", h.Task().Name, f.Text)
		}
		err = errors.Join(err, h.err)
	})
	return err
}

// finish carries out the last steps.
func (h *Held) finish(ctx context.Context, stop *engine.Stop) {
	p := &h.how.Plan
	p.Task.Stop, p.Task.Limit = stop, endLimit
	end := h.how.End
	if end == nil {
		end = BySignals
	}
	if stop != nil {
		p.Task.Limit += stop.Grace
	}
	var asked int64
	if h.payload >= 0 {
		if stop != nil {
			asked = h.signal(ctx, *stop)
		}
		_ = unix.Close(h.payload)
	}
	had := len(p.Steps)
	p.Steps = p.Steps[:had:had]
	if h.how.ToPayload && h.payload < 0 && h.how.End != nil {
		p.Steps = append(p.Steps, BySignals(stop)...) // what is between is all that can be reached
	}
	p.Steps = append(p.Steps, end(stop)...)
	until, done := h.untilGentle(ctx)
	late := time.Now().Add(p.Task.Limit)
	res, err := h.job.End(until, p.Task.Limit, p.job().Commands[had:])
	done()
	if err == nil {
		err = p.insist(ctx, h.launcher, res, late)
	}
	if h.over(ctx, res, err); asked != 0 && h.res.Events != nil {
		h.res.Events[record.Stop] = asked
		h.res.Events[record.Stopped] = ended(h.res.Events)
	}
	if h.err == nil && ctx.Err() != nil {
		h.err = fmt.Errorf("ending %s: %w", p.Task.Name, ctx.Err())
	}
}

// signal ends the payload by SIGTERM, the grace and SIGKILL, and says when it
// began.
func (h *Held) signal(ctx context.Context, stop engine.Stop) (asked int64) {
	asked = stamp.Now()
	_ = unix.PidfdSendSignal(h.payload, unix.SIGTERM, nil, 0) // where it has just ended
	grace := time.NewTimer(stop.Grace)
	defer grace.Stop()
	select {
	case <-h.job.Over():
		return asked
	case <-ctx.Done():
	case <-grace.C:
	}
	_ = unix.PidfdSendSignal(h.payload, unix.SIGKILL, nil, 0)
	return asked
}

// over makes the result and gives the launcher back.
func (h *Held) over(ctx context.Context, job *probe.JobResult, err error) {
	if err != nil {
		h.res = broken("holding "+h.how.Plan.Task.Name, err, h.base.pool.drop(h.launcher))
	} else {
		h.res = h.how.Plan.Result(job)
		h.base.pool.give(h.launcher)
	}
	if h.how.After != nil {
		h.how.After(context.WithoutCancel(ctx), &h.res)
	}
}
