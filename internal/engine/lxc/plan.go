package lxc

import (
	"strconv"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

func (e *environment) command(program string, args ...string) probe.Command {
	return clirun.As(probe.Command{Argv: append([]string{e.programs[program]}, args...), Dir: "/"}, nil, e.Kit)
}

// plan are the commands of one life.
func (e *environment) plan(task engine.Task) clirun.Plan {
	if e.execute {
		return e.executePlan(task)
	}
	return e.stepsPlan(task)
}

// stepsPlan: lxc-start returns when the container runs, the payload is
// attached, and lxc-stop ends the container. Without a definition in LXC's own
// directory nothing is left then, so that stopped and removed are one stamp
// where a stop was asked for.
func (e *environment) stepsPlan(task engine.Task) clirun.Plan {
	attach := []string{"-n", task.Name, "-P", e.dir, "--clear-env"}
	for _, kv := range task.Env {
		attach = append(attach, "-v", kv)
	}
	attach = append(append(attach, "--"), task.Argv...)
	start := append(e.own(task.Name, "lxc.console.logfile="+e.console(task.Name)), "-d")
	p := clirun.Plan{Task: task, Payload: 1, Steps: []clirun.Step{
		{Cmd: e.command("lxc-start", start...), Begin: record.Request, End: record.Started},
		{Cmd: e.command("lxc-attach", attach...), Begin: record.Exec},
	}}
	kill := clirun.Step{Cmd: e.command("lxc-stop", "-n", task.Name, "-P", e.dir, "-k"), End: record.Removed}
	kill.Cmd.Always, kill.MayFail = true, true // what it leaves is looked for afterwards
	if task.Stop != nil {
		p.Steps[1].Cmd.Background = true
		stop := e.stop(task)
		stop.End = record.Stopped
		p.Steps = append(p.Steps, stop)
		kill.Cmd.Await = probe.AwaitContainerExit
	}
	p.Steps = append(p.Steps, kill)
	return p
}

// executePlan is one command, whose end is also the removal.
func (e *environment) executePlan(task engine.Task) clirun.Plan {
	var env []string
	for _, kv := range task.Env {
		env = append(env, "lxc.environment="+kv)
	}
	args := append(e.own(task.Name, env...), "--")
	cmd := e.command("lxc-execute", append(args, task.Argv...)...)
	cmd.Background = task.Stop != nil
	p := clirun.Plan{Task: task, Steps: []clirun.Step{{Cmd: cmd, Begin: record.Request, End: record.Removed}}}
	if task.Stop != nil {
		p.Steps = append(p.Steps, e.stop(task))
	}
	return p
}

// stop asks the container's init to shut down and, when the grace is over,
// kills it. LXC takes whole seconds.
func (e *environment) stop(task engine.Task) clirun.Step {
	grace := strconv.Itoa(int((task.Stop.Grace + time.Second - 1) / time.Second))
	stop := e.command("lxc-stop", "-n", task.Name, "-P", e.dir, "-t", grace)
	stop.Await = probe.AwaitReady
	return clirun.Step{Cmd: stop, Begin: record.Stop, End: record.Stopped}
}
