package podman

import (
	"context"
	"fmt"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// heldCLI is a container that was started by a podman in the foreground, which
// stays. Its monitor holds the container, not that program.
type heldCLI struct {
	*clirun.Held
	env *environment
}

func (env *environment) holdCLI(ctx context.Context, task engine.Task) (engine.Held, error) {
	if err := env.api.AdmitHeld(ctx, task); err != nil {
		return nil, err
	}
	task.Stop = nil
	steps, payload := env.steps(task)
	if env.bySteps {
		steps = steps[:payload+1] // the removal is End's
	}
	held, err := env.Base.Hold(ctx, clirun.Holding{
		Plan:  clirun.Plan{Task: task, Steps: steps, Payload: payload, Patterns: patterns, EngineStatus: engineStatus},
		End:   func(stop *engine.Stop) []clirun.Step { return env.endSteps(task, stop) },
		Place: func(ctx context.Context, _ int) engine.Place { return env.placeOf(ctx, task) },
		After: func(ctx context.Context, res *engine.Result) { env.api.AfterHeld(ctx, task, res) },
	})
	if err != nil {
		return nil, err
	}
	return &heldCLI{Held: held, env: env}, nil
}

// engineStatus says which exit statuses are podman's own.
func engineStatus(n int) bool { return n >= 125 && n <= 127 }

// endSteps are the commands that end a held container.
func (env *environment) endSteps(task engine.Task, stop *engine.Stop) []clirun.Step {
	var steps []clirun.Step
	if stop != nil {
		steps = append(steps, clirun.Step{Cmd: env.p.command("stop", "--time", graceSeconds(*stop), task.Name), Begin: record.Stop, End: record.Stopped})
	}
	if env.bySteps {
		remove := env.p.command("rm", "--volumes", task.Name)
		remove.Always = true
		if stop != nil {
			remove.Await = probe.AwaitContainerExit
		}
		steps = append(steps, clirun.Step{Cmd: remove, End: record.Removed})
	}
	return steps
}

// execLimit is what podman may take to end when what it executes was killed.
const execLimit = 10 * time.Second

// Exec runs one `podman exec`. At the time limit the executed program is killed,
// and podman then ends by itself: if podman were killed with its monitor, the
// container could not be stopped any more.
func (h *heldCLI) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	args := execArgs(h.ContainerName(), task)
	limit := task.Limit
	late := killLate(h.Place().PID, task)
	task.Limit += execLimit
	res, err := h.env.Base.Exec(ctx, clirun.Plan{Task: task, EngineStatus: engineStatus, Patterns: patterns,
		Steps: []clirun.Step{{Cmd: h.env.p.command(args...), Begin: record.Request}}})
	if late() {
		res.Failure = &record.Failure{Class: record.TimeOut, Text: fmt.Sprintf("did not end within %v and was killed", limit)}
	}
	if err != nil {
		adapter.KillInside(h.Place().PID, task.Argv)
		err = fmt.Errorf("executing in %s: %w", h.ContainerName(), err)
	}
	return res, err
}

// killLate kills a program in a container from its time limit on, until the
// function that it returns is called, which says whether it came to that.
func killLate(pid int, task engine.Task) (over func() bool) {
	done, killed := make(chan struct{}), make(chan bool, 1)
	go func() {
		wait, was := task.Limit, false
		for {
			select {
			case <-done:
				killed <- was
				return
			case <-time.After(wait):
				was, wait = true, 50*time.Millisecond
				adapter.KillInside(pid, task.Argv)
			}
		}
	}()
	return func() bool { close(done); return <-killed }
}
