package sarus

import (
	"context"
	"errors"
	"slices"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
)

// RunRanks runs a container for each rank. It has the environment of its
// `sarus run`, and so the launcher's variables, and shares the host's network and
// process numbers.
func (e *environment) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	if ranks.Shared {
		return adapter.Refused(adapter.Unsupported("Sarus executes nothing in a container that runs, so that each rank is one")), nil
	}
	// The launcher's files, at the same path as outside.
	task.Mounts = append(slices.Clone(task.Mounts), engine.Mount{Kind: engine.Bind, Source: "/tmp", Target: "/tmp"})
	list, err := options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	each := task
	each.Name = clirun.EachName(task.Name)
	each.Env = slices.Concat(task.Env, ranks.Inside)
	cmd := e.command(each, list...)
	if e.s.names {
		cmd = clirun.AsRank(cmd)
	}
	plan := clirun.Launched(ranks, task, cmd)
	plan.Patterns = patterns
	return e.accountAll(ctx, task.Name, ranks.PerNode*ranks.Nodes, func() (engine.Result, error) { return e.Base.Run(ctx, plan) })
}

// accountAll is account for the containers of so many ranks.
func (e *environment) accountAll(ctx context.Context, name string, ranks int, life func() (engine.Result, error)) (engine.Result, error) {
	if !e.s.names {
		return life()
	}
	var things []engine.Thing
	var errs []error
	for i := range ranks {
		thing := e.s.thing(engine.KindContainer, clirun.RankName(name, i))
		if err := e.Kit.Ledger.Made(thing); err != nil {
			errs = append(errs, err)
			break
		}
		things = append(things, thing)
	}
	var res engine.Result
	if len(errs) == 0 {
		var err error
		res, err = life()
		errs = append(errs, err)
	}
	for _, thing := range things {
		errs = append(errs, e.settle(ctx, thing, &res))
	}
	return res, errors.Join(errs...)
}
