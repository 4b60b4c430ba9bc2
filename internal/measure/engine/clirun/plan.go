// Package clirun carries a container through its life by commands, run by the
// launcher, and turns what the launcher saw into an engine.Result.
//
// It is opinionated: an exit status and what the engine said decide over
// success, never how long something took; a command that was not allowed to
// fail and did fails the trial; and the payload's own exit status is reported,
// not judged, since only the caller knows which one was asked for.
package clirun

import (
	"context"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Step is one command of a container's life.
type Step struct {
	Cmd probe.Command
	// Begin is stamped just before the command is started, End when its end
	// is seen. Either may be empty.
	Begin, End record.Event
	// Name, where given, is recorded as a step when the command ends.
	Name string
	// MayFail: its failure says nothing about the trial (a kill that comes
	// when all is over). The launcher does not know this and skips what comes
	// after a failed command, so that later steps need Cmd.Always.
	MayFail bool
	// Removes, of the payload's step: the command is a client that comes back
	// when the container is removed. Nobody sees the container's own end then,
	// so that there is no event exit.
	Removes bool
	// Again, of the last step, says whether the engine was only not ready for it
	// yet: then it is asked again, until it is or the task's limit strikes.
	Again func(probe.CommandResult) bool
}

// Plan is one trial as a list of commands.
type Plan struct {
	Task  engine.Task
	Steps []Step
	// Payload is the index of the step whose stdout is the payload's. The
	// payload's exit status is the container's, where the launcher reaped it,
	// else that of this step; Exit replaces this rule.
	Payload int
	// Exit reads the payload's exit status from the job, for engines that
	// print it; nil where there is none to read.
	Exit func(*probe.JobResult) *int
	// EngineStatus says whether an exit status of the payload's step means
	// that the engine, and not the payload, failed (docker: 125). It is asked
	// only where the payload printed nothing. nil: any status but 0, if there
	// is something on stderr too.
	EngineStatus func(status int) bool
	// OOM says whether the kernel killed for want of memory since the trial
	// began. nil: the environment's own cgroup tells where it can, else the host.
	OOM func() bool
	// NoClient: there is no client whose time could be told from the
	// payload's (baselines).
	NoClient bool
	// Gentle, where given, is for an engine whose command takes the container
	// away when it is told to end and leaves it when it is killed: at the limit
	// and at an interrupt SIGTERM comes first, after this long SIGKILL for the
	// payload alone, and after as long again for everything.
	Gentle time.Duration
	// Patterns are further pieces of the engine's messages, lower case, with
	// the class that they stand for. They come before the common ones.
	Patterns []adapter.Pattern
}

// runner is the launcher, as far as this package needs it.
type runner interface {
	Run(ctx context.Context, job probe.Job) (*probe.JobResult, error)
}

// job is the launcher's program for a plan.
func (p *Plan) job() probe.Job {
	job := probe.Job{Limit: p.Task.Limit, OutputLimit: p.Task.OutputLimit}
	for i, s := range p.Steps {
		c := s.Cmd
		if i != p.Payload {
			c.Mute = true
		}
		job.Commands = append(job.Commands, c)
	}
	return job
}

// run carries the plan out. The error is for the launcher's own failure or
// for ctx; what went wrong with the trial is the result's Failure.
func run(ctx context.Context, l runner, p Plan) (engine.Result, error) {
	until := time.Now().Add(p.Task.Limit)
	res, err := l.Run(ctx, p.job())
	if err == nil {
		err = p.insist(ctx, l, res, until)
	}
	if err != nil {
		return engine.Result{}, err
	}
	return p.Result(res), nil
}
