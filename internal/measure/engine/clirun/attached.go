package clirun

import (
	"golang.org/x/sys/unix"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// Attached is the life of a container that is one command: its end is also
// the removal, and a stop is SIGTERM to it, the grace, then SIGKILL.
func Attached(task engine.Task, cmd probe.Command) Plan {
	cmd.Background = task.Stop != nil
	p := Plan{Task: task, Steps: []Step{{Cmd: cmd, Begin: record.Request, End: record.Removed}}}
	if task.Stop != nil {
		p.Steps = append(p.Steps,
			Step{Begin: record.Stop, Cmd: probe.Command{Signal: int(unix.SIGTERM), Await: probe.AwaitReady}},
			Step{MayFail: true, Name: "grace is over",
				Cmd: probe.Command{Signal: int(unix.SIGKILL), Await: probe.AwaitGrace, Grace: task.Stop.Grace}})
	}
	return p
}
