package charliecloud

import (
	"context"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
)

// RunRanks is documented in engine.Parallel. By default each rank has a user
// namespace of its own, so that none may read another's memory; with --join the
// ranks of a node meet in one.
func (e *environment) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	if ranks.Shared {
		options = append(options, "--join", "--join-ct="+strconv.Itoa(ranks.PerNode), "--join-tag="+task.Name)
	}
	for _, v := range ranks.Inside {
		options = append(options, "--set-env="+v)
	}
	return e.Base.Run(ctx, clirun.Launched(clirun.Apart(ranks), task, e.command(task, options...)))
}
