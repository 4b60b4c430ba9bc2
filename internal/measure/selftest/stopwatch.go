package selftest

import (
	"context"
	"strconv"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Delay is what is injected.
const Delay = 5 * time.Millisecond

// stopwatch is the null engine: the payload is started by the launcher and
// nothing else happens. Both of its levels pass through the same delaying
// program, so that they differ by the delay alone and not by one more exec.
type stopwatch struct{}

const (
	plain   = "plain"
	delayed = "delayed"
)

func (stopwatch) Info() engine.Info {
	return engine.Info{Name: "stopwatch", Title: "the stopwatch alone", Levels: map[string][]string{
		engine.Runtime: {plain, delayed},
	}}
}

func (stopwatch) Detect(context.Context, *engine.Kit) engine.Detection {
	return engine.Detection{Usable: true, Version: probe.Digest()}
}

func (stopwatch) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	b, err := clirun.NewBase(ctx, kit, spec, false)
	if err != nil {
		return nil, err
	}
	e := &nullEnv{Base: b}
	if spec.Level(engine.Runtime) == delayed {
		e.delay = Delay
	}
	return e, nil
}

func (stopwatch) Leftovers(context.Context, *engine.Kit, []engine.Thing) ([]engine.Leftover, error) {
	return nil, nil
}

type nullEnv struct {
	*clirun.Base
	delay time.Duration
}

func (e *nullEnv) command(task engine.Task) probe.Command {
	path := e.Kit.ProbePath
	argv := []string{path, "delay", strconv.FormatInt(int64(e.delay), 10), "--", path}
	return probe.Command{Argv: append(argv, task.Argv[1:]...), Env: task.Env}
}

func (e *nullEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	return e.Base.Run(ctx, clirun.Plan{
		Task: task, NoClient: true,
		Steps: []clirun.Step{{Cmd: e.command(task), Begin: record.Request, End: record.Removed}},
	})
}
