package oci

import (
	"context"
	"errors"
	"path/filepath"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/wrap"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

// plan is the life of one container, in one call or in steps. A bare runtime
// has no stop: it is SIGTERM, the grace, SIGKILL, as a manager would do it.
// The payload's status is that of the watched process; gVisor's sandbox ends
// with it too.
func (e *environment) plan(task engine.Task, dir string, oneCall bool) clirun.Plan {
	name := task.Name
	p := clirun.Plan{Task: task}
	add := func(s clirun.Step) { p.Steps = append(p.Steps, s) }
	with := func(c probe.Command, change func(*probe.Command)) probe.Command { change(&c); return c }

	if oneCall {
		add(clirun.Step{Begin: record.Request, End: record.Removed,
			Cmd: with(e.command("run", "--bundle", dir, name), func(c *probe.Command) { c.Background = task.Stop != nil })})
	} else {
		add(clirun.Step{Begin: record.Request, End: record.Created,
			Cmd: with(e.command("create", "--bundle", dir, "--pid-file", filepath.Join(dir, "pid"), name),
				func(c *probe.Command) { c.PidFile = filepath.Join(dir, "pid") })})
		add(clirun.Step{Begin: record.Start, End: record.Started, Cmd: e.command("start", name)})
	}
	if task.Stop != nil {
		add(clirun.Step{Begin: record.Stop, Name: "signalled",
			Cmd: with(e.command("kill", name, "TERM"), func(c *probe.Command) { c.Await = probe.AwaitReady })})
		add(clirun.Step{MayFail: true, Name: "killed",
			Cmd: with(e.command("kill", name, "KILL"), func(c *probe.Command) {
				c.Await, c.Grace = probe.AwaitGrace, task.Stop.Grace
			})})
	}
	if oneCall {
		return p
	}
	add(clirun.Step{End: record.Removed, Cmd: with(e.command("delete", name), func(c *probe.Command) {
		c.Await, c.Always = probe.AwaitContainerExit, true
	})})
	return p
}

// clear removes a container after a failure, whatever state it is in. A
// container that the runtime does not know is no error. Runtimes wait for a
// part of a second until the cgroup of what they killed is empty, then leave it
// and say nothing.
func (e *environment) clear(ctx context.Context, name string) error {
	args := append(e.program.global(e.options), "delete", "--force", name)
	_, err := tool(ctx, e.path, args...)
	return errors.Join(stillThere(filepath.Join(e.options.root, name), err), wrap.RemoveNamed(ctx, name))
}
