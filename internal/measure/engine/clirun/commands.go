package clirun

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Commands are the steps of engine.Commander. The removal comes in any case, so
// that a failed step leaves nothing.
func Commands(create, start, exec, remove probe.Command) []Step {
	remove.Always = true
	return []Step{
		{Cmd: create, Begin: record.Request, End: record.Created},
		{Cmd: start, Begin: record.Start, End: record.Started},
		{Cmd: exec, Begin: record.Exec},
		{Cmd: remove, End: record.Removed},
	}
}

// Before gives the steps of Commands that come before task.Then: those but the
// removal, which is the caller's then.
func Before(task engine.Task, steps []Step) []Step {
	if task.Then == nil {
		return steps
	}
	return steps[:len(steps)-1]
}

// Follow calls task.Then, where what was executed has ended with success.
func Follow(ctx context.Context, task engine.Task, res *engine.Result) {
	if res.Failure == nil && res.Exit != nil && *res.Exit == 0 {
		task.Then(ctx)
	}
}

// CommandsPayload is the step of Commands whose output is the payload's.
const CommandsPayload = 2

// ShellTask is the task of the container itself: it holds a shell, with what the
// executed program needs of the container.
func ShellTask(task engine.Task) engine.Task {
	task.Argv, task.Env, task.Stop = []string{engine.Shell}, nil, nil
	return task
}
