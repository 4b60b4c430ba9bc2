package cri

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

func outOfMemory() *record.Failure {
	return &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the payload for want of memory"}
}

// settle gathers the output, judges, and removes what a failed life left.
func (l *life) settle(ctx context.Context, err error) (res engine.Result, left bool) {
	if err != nil {
		l.res.Failure = l.judge(ctx, err)
	}
	if l.events != nil && l.ctr != "" {
		l.events.forget(l.ctr)
	}
	if l.asked && l.res.Events[record.Removed] == 0 {
		remove := func(ctx context.Context) error { return l.s.removePod(ctx, l.task.Name) }
		if l.beside != nil {
			remove = func(ctx context.Context) error { return l.s.removeFromPod(ctx, l.pod, l.names().container) }
		}
		if err := remove(context.WithoutCancel(ctx)); err != nil {
			left = true
			l.res.Failure.Text += "; " + err.Error()
		}
	}
	if err := l.volumes.remove(); err != nil && l.res.Failure == nil {
		l.res.Failure = &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("removing the pod's volumes: %v", err)}
	}
	if l.log != nil {
		bad := l.log.Stop()
		if bad != nil && l.res.Failure == nil {
			l.res.Failure = &record.Failure{Class: record.BadOutput, Text: bad.Error()}
		}
		l.res.Stdout, l.res.Stderr = l.log.out.Kept(), l.log.err.Kept()
		if at := l.log.out.First(); at != 0 {
			l.res.Events[record.Ready] = at
		}
	}
	logs := l.logs()
	if l.beside != nil {
		logs = filepath.Join(logs, l.names().log)
	}
	if err := os.RemoveAll(logs); err != nil && l.res.Failure == nil {
		l.res.Failure = &record.Failure{Class: record.UncleanEnd, Text: fmt.Sprintf("removing the pod's logs: %v", err)}
	}
	if l.res.Failure == nil && l.res.Exit != nil {
		l.res.Failure = adapter.SignalFailure(*l.res.Exit, l.task.Stop != nil)
	}
	return l.res, left
}

// judge makes a failure of what live returned.
func (l *life) judge(ctx context.Context, err error) *record.Failure {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &record.Failure{Class: record.TimeOut,
			Text: fmt.Sprintf("did not end within %v and was killed, while %s", l.task.Limit, l.phase)}
	}
	if errors.Is(err, errNotReady) {
		return &record.Failure{Class: record.Crash, Text: err.Error()}
	}
	return l.s.failure(l.phase, err)
}
