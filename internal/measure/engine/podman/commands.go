package podman

import (
	"context"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

// Commands runs `podman create -ti IMAGE sh`, `podman start`, `podman exec` and
// `podman rm --force`.
func (env *environment) Commands(ctx context.Context, task engine.Task) (engine.Result, error) {
	if env.byAPI {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: "the client is the API: create, start and exec as commands need the client cli or steps"}}, nil
	}
	if f := env.impossible(task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	return env.api.Account(ctx, task, func() (engine.Result, error) { return env.runCommands(ctx, task) })
}

func (env *environment) runCommands(ctx context.Context, task engine.Task) (engine.Result, error) {
	create := []string{"--tty", "--interactive"}
	if p := task.Publish; p != nil {
		create = append(create, "--publish="+p.HostAddress()+":"+strconv.Itoa(p.Inside))
	}
	plan := clirun.Plan{
		Task: task, Payload: clirun.CommandsPayload, EngineStatus: engineStatus, Patterns: patterns,
		Steps: clirun.Before(task, clirun.Commands(
			env.p.command(env.settings.args("create", clirun.ShellTask(task), create...)...),
			env.p.command("start", task.Name),
			env.p.command(execArgs(task.Name, task)...),
			// Without a grace: a shell at a terminal does not end at SIGTERM.
			env.p.command("rm", "--force", "--time=0", "--volumes", task.Name))),
	}
	res, err := env.Base.Run(ctx, plan)
	switch after := context.WithoutCancel(ctx); {
	case err != nil || res.Failure != nil:
		env.api.Clear(after, task, &res)
		env.api.Later(task.Name) // as at every place where a command was killed: it may have been at work
	case task.Then != nil:
		clirun.Follow(ctx, task, &res)
		env.api.Clear(after, task, &res)
	default:
		env.api.After(after, task, &res)
	}
	return res, err
}

// execArgs are those of `podman exec`.
func execArgs(container string, task engine.Task) []string {
	args := []string{"exec"}
	for _, kv := range task.Env {
		args = append(args, "--env="+kv)
	}
	return append(append(args, container), task.Argv...)
}
