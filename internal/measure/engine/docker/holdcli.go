package docker

import (
	"context"
	"strconv"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

// heldCLI is a container that was started by one `docker run --rm` in the
// foreground, which stays. The daemon holds the container, not that program.
type heldCLI struct {
	*clirun.Held
	env *environment
}

func (env *environment) holdCLI(ctx context.Context, task engine.Task, began time.Time) (engine.Held, error) {
	if err := env.AdmitHeld(ctx, task); err != nil {
		return nil, err
	}
	c := env.cli
	run := clirun.Step{Cmd: c.command(env.settings.args(task, "--rm")...), Begin: record.Request, End: record.Removed, Removes: true}
	held, err := c.Hold(ctx, clirun.Holding{
		Plan: clirun.Plan{Task: task, Steps: []clirun.Step{run}, EngineStatus: engineStatus, Patterns: patterns,
			OOM: cgroup.HostOr(func() bool { return env.d.oomKilled(context.WithoutCancel(ctx), task.Name, began) })},
		End: func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return nil
			}
			return []clirun.Step{{Cmd: c.command("stop", "-t", strconv.Itoa(graceSeconds(*stop)), task.Name), Begin: record.Stop, End: record.Stopped}}
		},
		Place: func(ctx context.Context, _ int) engine.Place { return env.placeOf(ctx, task) },
		After: func(ctx context.Context, res *engine.Result) { env.AfterHeld(ctx, task, res) },
	})
	if err != nil {
		return nil, err
	}
	return &heldCLI{Held: held, env: env}, nil
}

// Exec runs one `docker exec`.
func (h *heldCLI) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	args := execArgs(h.ContainerName(), task)
	res, err := h.env.cli.Exec(ctx, clirun.Plan{Task: task, EngineStatus: engineStatus, Patterns: patterns,
		Steps: []clirun.Step{{Cmd: h.env.cli.command(args...), Begin: record.Request}}})
	if err != nil || (res.Failure != nil && res.Failure.Class == record.TimeOut) {
		adapter.KillInside(h.Place().PID, task.Argv)
	}
	if res.Failure == nil && res.Exit != nil {
		if ferr := execFailed(*res.Exit, res.Stdout, res.Stderr); ferr != nil {
			res.Failure = h.env.Failure("", ferr)
		}
	}
	return res, err
}
