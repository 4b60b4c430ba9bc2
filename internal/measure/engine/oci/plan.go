package oci

import (
	"context"
	"errors"
	"path/filepath"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// plan is the life of one container, in one call or in steps. The payload's
// status is that of the watched process; gVisor's sandbox ends with it too.
func (e *environment) plan(task engine.Task, dir string, oneCall bool) clirun.Plan {
	p := clirun.Plan{Task: task, Steps: e.begin(task, dir, oneCall)}
	p.Steps[0].Cmd.Background = oneCall && task.Stop != nil
	p.Steps = append(p.Steps, e.end(task.Name, task.Stop, oneCall)...)
	return p
}

// begin are the steps up to where the payload runs.
func (e *environment) begin(task engine.Task, dir string, oneCall bool) []clirun.Step {
	args := append([]string{"--bundle", dir}, e.omitted()...)
	if oneCall {
		return []clirun.Step{{Begin: record.Request, End: record.Removed, Removes: true, Cmd: e.command(append(append([]string{"run"}, args...), task.Name)...)}}
	}
	file := filepath.Join(dir, "pid")
	create := e.command(append(append([]string{"create"}, args...), "--pid-file", file, task.Name)...)
	create.PidFile = file
	return []clirun.Step{
		{Begin: record.Request, End: record.Created, Cmd: create},
		{Begin: record.Start, End: record.Started, Cmd: e.command("start", task.Name)},
	}
}

// omitted are the options of create and run by which the runtime leaves something
// out that is not in a bundle.
func (e *environment) omitted() (options []string) {
	if e.Spec.Omits(engine.PivotRoot) {
		options = append(options, "--no-pivot")
	}
	if e.Spec.Omits(engine.Keyring) {
		options = append(options, "--no-new-keyring")
	}
	return options
}

// end are the steps after that. A bare runtime has no stop: it is SIGTERM, the
// grace, SIGKILL, as a manager would do it.
func (e *environment) end(name string, stop *engine.Stop, oneCall bool) (steps []clirun.Step) {
	if stop != nil {
		term, kill := e.command("kill", name, "TERM"), e.command("kill", name, "KILL")
		term.Await = probe.AwaitReady
		kill.Await, kill.Grace = probe.AwaitGrace, stop.Grace
		steps = append(steps, clirun.Step{Begin: record.Stop, Name: "signalled", Cmd: term},
			clirun.Step{MayFail: true, Name: "killed", Cmd: kill})
	}
	if !oneCall {
		remove := e.command("delete", name)
		remove.Await, remove.Always = probe.AwaitContainerExit, true
		steps = append(steps, clirun.Step{End: record.Removed, Cmd: remove})
	}
	return steps
}

// clear removes a container after a failure, whatever state it is in. A
// container that the runtime does not know is no error. Runtimes wait for a
// part of a second until the cgroup of what they killed is empty, then leave it
// and say nothing.
func (e *environment) clear(ctx context.Context, name string) error {
	args := append(e.program.global(e.options), "delete", "--force", name)
	_, err := tool(ctx, e.path, args...)
	return errors.Join(stillThere(filepath.Join(e.options.root, name), err), e.removeLocks(name), cgroup.RemoveNamed(ctx, e.Kit.Ledger, name))
}

// removeLocks removes gVisor's lock beside the state of a container, which it
// leaves where it was killed while it made it.
func (e *environment) removeLocks(name string) error {
	locks, err := filepath.Glob(filepath.Join(e.options.root, name+"_*.lock"))
	for _, path := range locks {
		err = errors.Join(err, adapter.RemoveIfThere(path))
	}
	return err
}
