package fake

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

func (e *environment) Commands(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("running %s: %w", task.Name, err)
	}
	if task.Publish != nil {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: "nothing listens in a simulated container: it has no port to publish"}}, nil
	}
	t := e.trial(task)
	defer t.clock.keep()
	defer e.been()
	switch {
	case t.refuse():
		return t.res, nil
	case t.stays():
		t.mark(record.Request)
		t.clock.pass(task.Limit)
		t.fail(record.TimeOut, "did not end within %v and was killed (simulated)", task.Limit)
		return t.res, nil
	}
	t.create()
	request, created, start, started := t.res.Events[record.Request], t.res.Events[record.Created], t.res.Events[record.Start], t.res.Events[record.Started]
	t.clock.pass(small)
	exec := t.clock.stamp()
	t.exec()
	t.res.Events[record.Request], t.res.Events[record.Created] = request, created
	t.res.Events[record.Start], t.res.Events[record.Started], t.res.Events[record.Exec] = start, started, exec
	t.clock.pass(t.times[Remove])
	t.mark(record.Removed)
	return t.res, nil
}

// echo is the program of that name.
type echo []string

func (e echo) begin(*trial, int64) []byte             { return []byte(strings.Join(e, " ") + "\n") }
func (echo) finish(*trial, int64) []byte              { return nil }
func (echo) stays() bool                              { return false }
func (echo) ignores() bool                            { return false }
func (echo) status() int                              { return 0 }
func (echo) lasts(time.Duration) (work time.Duration) { return 0 }
func (echo) touches() int64                           { return 0 }
