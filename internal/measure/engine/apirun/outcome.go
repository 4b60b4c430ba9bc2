package apirun

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

// afterLimit bounds what is looked at and cleared away after a life, also where
// that was broken off.
const afterLimit = time.Minute

// conclude says what came of a life that err ended, and clears away what it has
// left. It lies outside of what is measured.
func (b *Base) conclude(ctx context.Context, c Container, err error) engine.Result {
	l := c.life()
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterLimit)
	defer cancel()
	if err != nil {
		l.Res.Failure = b.judge(ctx, l, err)
	}
	if l.begun && l.Res.Events[record.Removed] == 0 {
		b.Clear(after, l.Task, &l.Res)
		if ctx.Err() != nil && l.Res.Events[record.Created] == 0 {
			// An engine that had not got to the request yet makes the container
			// when it was not found: it is looked for once more.
			b.Later(l.Task.Name)
		}
	}
	b.gather(after, c)
	if l.Res.Events[record.Removed] != 0 {
		b.After(after, l.Task, &l.Res)
	}
	return l.Res
}

// gather takes over what a process has printed, and looks at its status.
func (b *Base) gather(ctx context.Context, p Process) {
	l := p.life()
	if f := p.Release(ctx); f != nil && l.Res.Failure == nil {
		l.Res.Failure = f
	}
	if l.Drain != nil {
		<-l.Drain.Done
	}
	l.Res.Stdout, l.Res.Stderr = l.Stdout.Kept(), l.Stderr.Kept()
	if at := l.Stdout.First(); at != 0 {
		l.Res.Events[record.Ready] = at
		// What was printed was printed before the end, also where the two are heard of
		// by different ways and the end first.
		if exit, ok := l.Res.Events[record.Exit]; ok {
			l.Res.Events[record.Exit] = max(exit, at)
		}
	}
	if l.Res.Exit == nil {
		return
	}
	// The host's own count comes first: containerd tells nothing of a kill in a
	// control group that is gone before it looks, nor do those that stand on it.
	killed := adapter.SignalFailure(*l.Res.Exit, l.stopped)
	switch f := l.Res.Failure; {
	case killed != nil && *l.Res.Exit == 128+9 && (l.hostOOM() || p.OOM(ctx)):
		l.Res.Failure = adapter.OutOfMemory()
	case killed != nil && (f == nil || f.Class == record.NoProof):
		l.Res.Failure = killed
	}
}

// judge makes a failure of what the measured path returned.
func (b *Base) judge(ctx context.Context, l *Life, err error) *record.Failure {
	// An engine that is told the time limit may be the first to say so, in words of
	// its own, such as gRPC's "stream terminated".
	if end, ok := ctx.Deadline(); ok && time.Until(end) < time.Second &&
		(strings.Contains(err.Error(), context.DeadlineExceeded.Error()) || b.failure(l.phase, err).Class == record.TimeOut) {
		<-ctx.Done()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		awaited := "did not end"
		if l.holding {
			awaited = "was not ready"
		}
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("%s within %v and was killed, while %s", awaited, l.limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		text := fmt.Sprintf("%v, with status %d", err, l.End.Status)
		if words := adapter.Words(l.Stderr.Kept()); words != "" {
			text += ", and had said: " + words
		}
		return &record.Failure{Class: record.NoProof, Text: text}
	}
	return b.failure(l.phase, err)
}

// failure is an error as the outcome of a trial, of its own class where it has one.
func (b *Base) failure(what string, err error) *record.Failure {
	if known, ok := errors.AsType[*engine.Error](err); ok {
		return &record.Failure{Class: known.Class, Text: known.Error()}
	}
	return b.d.Failure(what, err)
}

// Clear removes what there is of a task's container; where that fails it is left
// for later, and the failure says so.
func (b *Base) Clear(ctx context.Context, task engine.Task, res *engine.Result) {
	err := b.d.Remove(ctx, task)
	if err == nil {
		return
	}
	b.Later(task.Name)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Class == record.Unavailable {
		err = errors.New("the container is removed when the daemon is back")
	}
	adapter.Unclean(res, err)
}

// After looks whether a container that was removed is gone.
func (b *Base) After(ctx context.Context, task engine.Task, res *engine.Result) {
	d, ok := b.d.(looker)
	if !ok {
		return
	}
	there, err := d.Remains(ctx, task)
	if there {
		err = &engine.Error{Class: record.UncleanEnd, Text: fmt.Sprintf("the container %s was still there after its removal had returned", task.Name)}
	}
	if err != nil && res.Failure == nil {
		res.Failure = b.failure("after the trial", err)
	}
	switch {
	case there:
		b.Clear(ctx, task, res)
	case err != nil:
		b.Later(task.Name)
	}
}

// AfterHeld sees to it that a container is gone that was held by commands.
func (b *Base) AfterHeld(ctx context.Context, task engine.Task, res *engine.Result) {
	if res.Failure == nil {
		b.After(ctx, task, res)
	} else {
		b.Clear(ctx, task, res)
	}
	if err := b.Strike(task.Name); err != nil && res.Failure == nil {
		res.Failure = &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
}
