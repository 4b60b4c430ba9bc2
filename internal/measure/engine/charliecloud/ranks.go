package charliecloud

import (
	"context"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
)

// RunRanks lets the ranks of a node share a user namespace with --join. By
// default each has its own, so that none may read another's memory.
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
