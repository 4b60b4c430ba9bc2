package lxd

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

// Commands runs `lxc init IMAGE NAME --ephemeral`, `lxc start`, `lxc exec` and
// `lxc delete --force`. The container runs its image's init, not a shell.
func (env *environment) Commands(ctx context.Context, task engine.Task) (engine.Result, error) {
	if env.cli == nil {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported, Text: "the client is the API: init, start and exec as commands need the client cli"}}, nil
	}
	return env.Account(ctx, task, func() (engine.Result, error) { return env.runCommands(ctx, task) })
}

func (env *environment) runCommands(ctx context.Context, task engine.Task) (engine.Result, error) {
	task.Stop = nil
	c := env.cli
	if f := env.refuse(ctx, task); f != nil {
		return engine.Result{Failure: f}, nil
	}
	launch, undo, err := env.launch(ctx, env.life(task))
	defer undo()
	if err != nil {
		return engine.Result{Failure: env.d.failure("preparing "+task.Name, err)}, nil
	}
	remove := c.remove(task)
	steps := clirun.Commands(c.command(initArgs(launch)...), c.command("start", task.Name, "--quiet"), c.execute(task.Name, task), remove.Cmd)
	steps[len(steps)-1].Again = remove.Again
	res, err := c.Run(ctx, clirun.Plan{Task: task, Payload: clirun.CommandsPayload, Patterns: patterns, Steps: clirun.Before(task, steps)})
	failed := err != nil || res.Failure != nil
	if task.Then != nil && !failed {
		clirun.Follow(ctx, task, &res)
	}
	if failed || task.Then != nil {
		env.clear(ctx, task, &res)
	}
	return res, err
}

// initArgs makes of the arguments of launch those of init.
func initArgs(launch []string) []string {
	return append([]string{"init", "--ephemeral"}, launch[1:]...)
}
