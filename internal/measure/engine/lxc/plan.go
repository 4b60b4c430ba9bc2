package lxc

import (
	"strconv"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func (e *environment) command(program string, args ...string) probe.Command {
	return adapter.As(probe.Command{Argv: append([]string{e.programs[program]}, args...), Dir: "/"}, nil, e.Kit)
}

// plan are the commands of one life; set are the container's own settings.
func (e *environment) plan(task engine.Task, set []string) clirun.Plan {
	if e.execute {
		return e.executePlan(task, set)
	}
	return e.stepsPlan(task, set)
}

// stepsPlan: lxc-start returns when the container runs, the payload is
// attached, and lxc-stop ends the container. Without a definition in LXC's own
// directory nothing is left then, so that stopped and removed are one stamp
// where a stop was asked for.
func (e *environment) stepsPlan(task engine.Task, set []string) clirun.Plan {
	p := e.startPlan(task, set)
	kill := e.kill(task)
	if task.Stop != nil {
		p.Steps[1].Cmd.Background = true
		stop := e.stop(task, *task.Stop)
		stop.Cmd.Await = probe.AwaitReady
		p.Steps = append(p.Steps, stop)
		kill.Cmd.Await = probe.AwaitContainerExit
	}
	p.Steps = append(p.Steps, kill)
	return p
}

// startPlan is what brings the payload to run.
func (e *environment) startPlan(task engine.Task, set []string) clirun.Plan {
	start := append(e.own(task.Name, append(set, "lxc.console.logfile="+e.console(task.Name))...), "-d")
	return clirun.Plan{Task: task, Payload: 1, Steps: []clirun.Step{
		{Cmd: e.command("lxc-start", start...), Begin: record.Request, End: record.Started},
		{Cmd: e.attach(task.Name, task), Begin: record.Exec},
	}}
}

// attach is the command that runs a program in a container.
func (e *environment) attach(name string, task engine.Task) probe.Command {
	args := []string{"-n", name, "-P", e.dir, "--clear-env"}
	for _, kv := range task.Env {
		args = append(args, "-v", kv)
	}
	return e.command("lxc-attach", append(append(args, "--"), task.Argv...)...)
}

// kill ends a container at once. What it leaves is looked for afterwards.
func (e *environment) kill(task engine.Task) clirun.Step {
	s := clirun.Step{Cmd: e.command("lxc-stop", "-n", task.Name, "-P", e.dir, "-k"), End: record.Removed, MayFail: true}
	s.Cmd.Always = true
	return s
}

// executePlan is one command, whose end is also the removal.
func (e *environment) executePlan(task engine.Task, set []string) clirun.Plan {
	for _, kv := range task.Env {
		set = append(set, "lxc.environment="+kv)
	}
	args := append(e.own(task.Name, set...), "--")
	cmd := e.command("lxc-execute", append(args, task.Argv...)...)
	cmd.Background = task.Stop != nil
	p := clirun.Plan{Task: task, Steps: []clirun.Step{{Cmd: cmd, Begin: record.Request, End: record.Removed, Removes: true}}}
	if task.Stop != nil {
		stop := e.stop(task, *task.Stop)
		stop.Cmd.Await = probe.AwaitReady
		p.Steps = append(p.Steps, stop)
		p.Exit = executed(task.Stop.Grace)
	}
	return p
}

// executed reads the payload's exit status from that of lxc-execute, whose init
// hands it on. Where the grace was over that init was killed as well, and
// lxc-execute ends with the status 1 of its own: then nobody knows the payload's.
func executed(grace time.Duration) func(*probe.JobResult) *int {
	return func(job *probe.JobResult) *int {
		if len(job.Commands) < 2 {
			return nil
		}
		run, stop := job.Commands[0], job.Commands[1]
		if run.Errno != 0 || run.Exit == 0 || stop.Exit-stop.Spawn >= grace.Nanoseconds() {
			return nil
		}
		n := clirun.Status(run.Status)
		return &n
	}
}

// stop asks the container's init to shut down and, when the grace is over,
// kills it. LXC takes whole seconds.
func (e *environment) stop(task engine.Task, stop engine.Stop) clirun.Step {
	args := []string{"-n", task.Name, "-P", e.dir}
	if grace := (stop.Grace + time.Second - 1) / time.Second; grace > 0 {
		args = append(args, "-t", strconv.Itoa(int(grace)))
	} else {
		args = append(args, "-k")
	}
	return clirun.Step{Cmd: e.command("lxc-stop", args...), Begin: record.Stop, End: record.Stopped}
}
