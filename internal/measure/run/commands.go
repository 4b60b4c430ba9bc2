package run

import (
	"cmp"
	"context"
	"fmt"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/study"
	"plimsoll/internal/measure/workload"
	"plimsoll/internal/record"
)

// commands carries a task through a life by create, start and exec. What the
// engine's client can't do is refused for the whole run.
func (s *site) commands(ctx context.Context, o *openEnv, env engine.Environment, task engine.Task) (engine.Result, error) {
	commander, ok := env.(engine.Commander)
	if !ok {
		s.settled = true
		return engine.Result{}, &engine.Error{Class: record.Unsupported,
			Text: o.rec.ID + " has no command line with a create, a start and an exec of their own"}
	}
	res, err := safely(func() (engine.Result, error) { return commander.Commands(ctx, task) })
	s.refused(res)
	return res, err
}

// echoed is the image's echo, executed in a container that was created and
// started by commands of their own.
type echoed struct {
	*site
	echo workload.Echo
}

func (e echoed) watched(asked bool) bool { return asked }

func (e echoed) trial(ctx context.Context, p study.Trial, o *openEnv) (*record.Trial, engine.Result, error) {
	word := newWord()
	return e.commanded(ctx, p, o, engine.Task{Argv: e.echo.Argv(word)}, e.echo.Output(word))
}

// commanded is a trial whose container lives by commands, and in which exec
// prints what is wanted.
func (s *site) commanded(ctx context.Context, p study.Trial, o *openEnv, task engine.Task, want string) (*record.Trial, engine.Result, error) {
	t := blank(p)
	// Nothing is stamped inside, so that the container's clock does not matter.
	t.Clock = o.clock
	task.Name, task.Limit, task.Checked = fmt.Sprintf("plimsoll-%s-%d", s.rec.ID, p.Seq), s.limit(), s.cold()
	if err := s.settle(ctx, o, t); err != nil || !t.OK() {
		return unsettled(t, err)
	}
	var res engine.Result
	var err error
	s.observe(o, t, func() { res, err = s.commands(ctx, o, o.env, task) })
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, res, ctx.Err() // broken off by the user: no result
	case err != nil:
		t.Failure = engine.FailureOf(err)
	default:
		t.Failure = res.Failure
	}
	t.Events, t.Steps, t.Exit, t.Client = res.Events, res.Steps, res.Exit, res.Client
	t.Failure = cmp.Or(t.Failure, unproved(want, res))
	return t, res, nil
}

// unproved judges what exec's program has printed, and its exit status.
func unproved(want string, res engine.Result) *record.Failure {
	if string(res.Stdout) != want {
		text := fmt.Sprintf("the executed program has not printed %q", want)
		if line := lastLine(res.Stdout); line != "" {
			text += "; the last it said: " + line
		}
		return &record.Failure{Class: record.NoProof, Text: text}
	}
	if res.Exit == nil || *res.Exit != 0 {
		return &record.Failure{Class: record.Crash, Text: "the executed program did not end with status 0"}
	}
	return nil
}
