package lxc

import (
	"context"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/record"
)

// held is a container that runs: by steps LXC keeps it, and a process of ours
// the payload in it; lxc-execute is such a process itself.
type held struct {
	*clirun.Held
	e    *environment
	init int // the container's, outside
}

var (
	_ engine.Holder   = (*environment)(nil)
	_ engine.Executor = (*held)(nil)
)

func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	set, w, err := e.settings(task)
	if err != nil {
		return nil, err
	}
	if err := e.make(task.Name); err != nil {
		e.release(task, w)
		return nil, err
	}
	h := clirun.Holding{
		Place: func(_ context.Context, pid int) engine.Place {
			return engine.Place{Address: w.address, NoAddress: w.noAddress, PID: pid, Background: e.execute}
		},
		After: func(_ context.Context, res *engine.Result) {
			e.finish(task.Name, res)
			e.release(task, w)
		},
	}
	if e.execute {
		h.Plan = e.executePlan(task, set)
		h.End = func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return nil
			}
			return []clirun.Step{e.stop(task, *stop)}
		}
	} else {
		h.Plan = e.startPlan(task, set)
		h.Plan.Steps[1].Cmd.Background = true
		h.End = func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return []clirun.Step{e.kill(task)}
			}
			return []clirun.Step{e.stop(task, *stop), e.kill(task)}
		}
	}
	got, err := e.Base.Hold(ctx, h)
	if err != nil {
		return nil, err
	}
	return &held{got, e, e.initOf(ctx, task.Name)}, nil
}

// askLimit bounds a question that takes milliseconds.
const askLimit = 5 * time.Second

// initOf asks LXC for a container's init; 0 where it has ended.
func (e *environment) initOf(ctx context.Context, name string) int {
	out, err := child.Run(ctx, child.Command{Argv: []string{e.programs["lxc-info"], "-n", name, "-P", e.dir, "-p", "-H"},
		Env: []string{adapter.Path}, Limit: askLimit})
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(strings.TrimSpace(string(out.Stdout))) // what it says of one that has ended
	return max(pid, 0)
}

func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	res, err := h.e.Exec(ctx, clirun.Plan{Task: task,
		Steps: []clirun.Step{{Cmd: h.e.attach(h.Task().Name, task), Begin: record.Request}}})
	if err != nil || res.Failure != nil {
		adapter.KillInside(h.init, task.Argv)
	}
	return res, err
}
