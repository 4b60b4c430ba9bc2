package apptainer

import (
	"context"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
)

// RunRanks lets the ranks of a node share the namespaces of the first with
// --sharens (since version 1.3).
func (e *environment) RunRanks(ctx context.Context, ranks engine.Ranks, task engine.Task) (engine.Result, error) {
	if e.netNone {
		return adapter.Refused(adapter.Unsupported("in an empty network namespace a rank reaches neither its launcher nor the others")), nil
	}
	if ranks.Shared && e.user == nil && e.Spec.Limits != (engine.Limits{}) {
		return adapter.Refused(adapter.Unsupported("with --sharens root's ranks leave the control group that limits them; it works without limits: protocol: {limits: {cpus: none, memory: none}}")), nil
	}
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	if ranks.Shared {
		options = append(options, "--sharens")
	}
	for _, v := range ranks.Inside {
		options = append(options, "--env", v)
	}
	if e.userns {
		ranks = clirun.Apart(ranks)
	}
	return e.Base.Run(ctx, e.finish(clirun.Launched(ranks, task, e.exec(task, options))))
}
