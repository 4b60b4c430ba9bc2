package clirun

import (
	"slices"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
)

// launcherGrace is how long a launcher has to end its ranks after SIGTERM.
const launcherGrace = 5 * time.Second

// Launched puts a launcher of parallel programs before the command of a container:
// the container's own environment goes to the launcher, which hands it on.
func Launched(ranks engine.Ranks, task engine.Task, cmd probe.Command) Plan {
	cmd.Argv = slices.Concat(ranks.Launcher, cmd.Argv)
	cmd.Env = slices.Concat(cmd.Env, ranks.Env)
	p := Attached(task, cmd)
	// A launcher that is killed leaves ranks on other nodes.
	p.Gentle = launcherGrace
	return p
}
