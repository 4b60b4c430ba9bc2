package sarus

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func (e *environment) command(task engine.Task, options ...string) probe.Command {
	args := append([]string{"run"}, options...)
	for _, kv := range task.Env {
		args = append(args, "--env="+kv)
	}
	if e.s.names {
		args = append(args, "--name="+task.Name)
	}
	args = append(args, e.ref) // our images have no entry point
	return e.s.command(e.Kit, append(args, task.Argv...)...)
}

// options are those of the user guide for a trial's mounts. The network is the
// host's, so that any two containers are beside each other.
func options(task engine.Task) ([]string, error) {
	var list []string
	for _, m := range task.Mounts {
		switch {
		case m.Kind == engine.Bind && !strings.ContainsAny(m.Source+m.Target, ",="):
			list = append(list, "--mount=type=bind,source="+m.Source+",destination="+m.Target)
		case m.Kind == engine.Bind:
			return nil, adapter.Unsupported("Sarus takes no path with a comma or an equals sign for a mount")
		case m.Kind == engine.Tmpfs:
			return nil, adapter.Unsupported("Sarus' user guide knows bind mounts only, and no tmpfs")
		default:
			return nil, adapter.Unsupported("Sarus has no volumes")
		}
	}
	return list, nil
}

// gentle is what `sarus run` gets to take its container away.
const gentle = 2 * time.Second

var patterns = []adapter.Pattern{{Text: "is not available", Class: record.Unavailable}}

func (e *environment) plan(task engine.Task, options []string) clirun.Plan {
	p := clirun.Attached(task, e.command(task, options...))
	p.Gentle, p.Steps[0].Removes = gentle, true
	p.Patterns = patterns
	return p
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	list, err := options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	return e.account(ctx, task.Name, func() (engine.Result, error) { return e.Base.Run(ctx, e.plan(task, list)) })
}

// Hold keeps `sarus run` in the background: Sarus can't detach, and executes
// nothing in a running container.
func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	list, err := options(task)
	if err != nil {
		return nil, err
	}
	how := clirun.Holding{Plan: e.plan(task, list)}
	if e.s.names {
		thing := e.s.thing(engine.KindContainer, task.Name)
		if err := e.Kit.Ledger.Made(thing); err != nil {
			return nil, fmt.Errorf("noting the container in the ledger: %w", err)
		}
		how.After = func(ctx context.Context, res *engine.Result) { adapter.Unclean(res, e.settle(ctx, thing, res)) }
	}
	return clirun.AsHeld(e.Base.Hold(ctx, how))
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	var offsets []probe.Exchange
	_, err := e.account(ctx, task.Name, func() (res engine.Result, err error) {
		offsets, err = e.Exchange(ctx, task, e.command(task), rounds)
		return res, err
	})
	return offsets, err
}
