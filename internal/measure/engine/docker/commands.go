package docker

import (
	"context"
	"strconv"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

// Commands runs `docker create -ti IMAGE sh`, `docker start`, `docker exec` and
// `docker rm --force`.
func (env *environment) Commands(ctx context.Context, task engine.Task) (engine.Result, error) {
	if !env.byCLI {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: "the client is the API: create, start and exec as commands need the client cli"}}, nil
	}
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	if task.Publish != nil && env.d.own != nil {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported,
			Text: "this daemon is a private one in a network namespace of its own: what it publishes is there, and not on the host's loopback"}}, nil
	}
	return env.Account(ctx, task, func() (engine.Result, error) { return env.runCommands(ctx, task, time.Now()) })
}

func (env *environment) runCommands(ctx context.Context, task engine.Task, began time.Time) (engine.Result, error) {
	c := env.cli
	res, err := c.Run(ctx, clirun.Plan{
		Task: task, Payload: clirun.CommandsPayload, EngineStatus: engineStatus, Patterns: patterns,
		OOM: cgroup.HostOr(func() bool { return env.d.oomKilled(ctx, task.Name, began) }),
		Steps: clirun.Before(task, clirun.Commands(
			c.command(env.settings.createArgs(task)...),
			c.command("start", task.Name),
			c.command(execArgs(task.Name, task)...),
			c.command("rm", "--force", "--volumes", task.Name))),
	})
	if res.Failure == nil && res.Exit != nil {
		if ferr := execFailed(*res.Exit, res.Stdout, res.Stderr); ferr != nil {
			res.Failure = env.Failure("", ferr)
		}
	}
	switch after := context.WithoutCancel(ctx); {
	case err != nil || res.Failure != nil:
		env.clear(after, task, &res, err)
	case task.Then != nil:
		clirun.Follow(ctx, task, &res)
		env.Clear(after, task, &res)
	default:
		env.After(after, task, &res)
	}
	return res, err
}

// createArgs are those of `docker create` for a container that is worked in.
func (s settings) createArgs(task engine.Task) []string {
	more := []string{"--tty", "--interactive"}
	if p := task.Publish; p != nil {
		more = append(more, "--publish", p.HostAddress()+":"+strconv.Itoa(p.Inside))
	}
	args := s.args(clirun.ShellTask(task), more...)
	args[0] = "create"
	return args
}

// execArgs are those of `docker exec`.
func execArgs(container string, task engine.Task) []string {
	args := []string{"exec"}
	for _, kv := range task.Env {
		args = append(args, "--env", kv)
	}
	return append(append(args, container), task.Argv...)
}
