package lxd

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// commandLine is the program lxc or incus, run by the launcher with a
// configuration directory of ours.
type commandLine struct {
	*clirun.Base
	path    string
	env     []string
	project string
}

func newCommandLine(ctx context.Context, env *environment) (*commandLine, error) {
	kit, v := env.kit, env.e.variant
	path, err := kit.LookPath(v.client)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "finding the program " + v.client, Err: err}
	}
	home := filepath.Join(kit.Dir, v.name+"-config-"+profileName(env.spec))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, &engine.Error{Class: record.HarnessError, Text: "making an empty configuration for the program " + v.client, Err: err}
	}
	env.undo = append(env.undo, func(context.Context) error { return safepath.RemoveAll(home) })
	base, err := clirun.NewBase(ctx, kit, env.spec, false)
	if err != nil {
		return nil, err
	}
	return &commandLine{Base: base, path: path, env: []string{
		adapter.Path, "HOME=" + home, v.prefix + "_CONF=" + home, v.prefix + "_SOCKET=" + env.d.socket,
	}, project: env.d.project}, nil
}

// facts say which program it is: its version need not be the daemon's.
func (c *commandLine) facts(ctx context.Context) map[string]string {
	facts := map[string]string{"client": byCLI, "cli": c.path, "cli-config": "empty"}
	out, err := child.Run(ctx, child.Command{Argv: []string{c.path, "--version"}, Env: c.env, Limit: engine.DetectLimit})
	if err == nil {
		facts["cli-version"] = strings.TrimSpace(string(out.Stdout))
	}
	return facts
}

func (c *commandLine) command(args ...string) probe.Command {
	return probe.Command{Argv: append([]string{c.path, "--project", c.project}, args...), Env: c.env, Dir: "/"}
}

// planCLI is launch and exec, with the payload's output; what they need is
// prepared, and undone by undo.
func (env *environment) planCLI(ctx context.Context, task engine.Task) (p clirun.Plan, l *life, undo func(), f *record.Failure) {
	undo = func() {}
	if f := env.refuse(ctx, task); f != nil {
		return p, nil, undo, f
	}
	c := env.cli
	l = env.life(task)
	launch, undo, err := env.launch(ctx, l)
	if err != nil {
		f = env.d.failure("preparing "+task.Name, err)
	}
	p = clirun.Plan{Task: task, Payload: 1, Patterns: patterns, Steps: []clirun.Step{
		{Cmd: c.command(launch...), Begin: record.Request, End: record.Started},
		{Cmd: c.execute(task.Name, task), Begin: record.Exec},
	}}
	return p, l, undo, f
}

// execute is the command that runs a program in a container.
func (c *commandLine) execute(name string, task engine.Task) probe.Command {
	run := []string{"exec", name, "--mode", "non-interactive", "--disable-stdin"}
	for _, kv := range task.Env {
		run = append(run, "--env", kv)
	}
	return c.command(append(append(run, "--"), task.Argv...)...)
}

func (c *commandLine) stop(task engine.Task, stop *engine.Stop) clirun.Step {
	args := []string{"stop", task.Name, "--timeout", strconv.Itoa(seconds(stop.Grace))}
	if stop.Grace <= 0 {
		args = []string{"stop", task.Name, "--force"}
	}
	return clirun.Step{Cmd: c.command(args...), Begin: record.Stop, End: record.Stopped, MayFail: true}
}

// remove ends what still runs.
func (c *commandLine) remove(task engine.Task) clirun.Step {
	s := clirun.Step{Cmd: c.command("delete", "--force", task.Name), End: record.Removed, Again: busy}
	s.Cmd.Always = true
	return s
}

// busy: the daemon is still at work on an end that somebody else has begun. It
// takes its own lock anew for the hooks of a container that goes down after its
// stop was told to have failed (see life.stop), and no operation says so.
func busy(c probe.CommandResult) bool {
	return c.Status != 0 && says(errors.New(string(c.Stderr)), saidBusy, saidStopped, saidDown)
}

// stopped reads from a job whether the stop at a step had an end: the command
// ends with an error when the grace is over, and the removal ends the container.
func stopped(res *engine.Result, failed bool) {
	if failed {
		res.Events[record.Stopped] = res.Events[record.Removed]
	}
}

// runCLI is launch, exec, stop where one is asked for, and delete --force. The
// init's stamp is not read: that would be one more command in the removal.
func (env *environment) runCLI(ctx context.Context, task engine.Task) (engine.Result, error) {
	c := env.cli
	plan, _, undo, f := env.planCLI(ctx, task)
	defer undo()
	if f != nil {
		return engine.Result{Failure: f}, nil
	}
	stopFailed := false
	if task.Stop != nil {
		plan.Steps[1].Cmd.Background = true
		stop := c.stop(task, task.Stop)
		stop.Cmd.Await = probe.AwaitReady
		plan.Steps = append(plan.Steps, stop)
		plan.Exit = func(job *probe.JobResult) *int {
			stopFailed = job.Commands[2].Status != 0
			return exitOf(job.Commands[1])
		}
	}
	if env.look == nil {
		plan.Steps = append(plan.Steps, c.remove(task))
	}
	res, err := c.Run(ctx, plan)
	stopped(&res, stopFailed)
	if env.look != nil && err == nil && res.Failure == nil {
		if lerr := env.look(ctx, task.Name); lerr != nil {
			res.Failure = env.d.failure("looking at the container", lerr)
		}
	}
	if err != nil || res.Failure != nil || env.look != nil {
		env.clear(ctx, task, &res)
	}
	return res, err
}

// clear removes what a failure left (see life.Release).
func (env *environment) clear(ctx context.Context, task engine.Task, res *engine.Result) {
	if env.Clear(context.WithoutCancel(ctx), task, res); res.Failure != nil && res.Failure.Class == record.TimeOut {
		env.Later(task.Name)
	}
}

// holdCLI holds a container by the same commands: the engine keeps it, and a
// process of ours the payload in it.
func (env *environment) holdCLI(ctx context.Context, task engine.Task) (engine.Held, error) {
	c := env.cli
	if err := env.AdmitHeld(ctx, task); err != nil {
		return nil, err
	}
	plan, l, undo, f := env.planCLI(ctx, task)
	if f != nil {
		undo()
		return nil, errors.Join(apirun.Refusal(task, f), env.Strike(task.Name))
	}
	stopFailed, at := false, -1
	plan.Exit = func(job *probe.JobResult) *int {
		stopFailed = at >= 0 && at < len(job.Commands) && job.Commands[at].Status != 0
		return exitOf(job.Commands[1])
	}
	plan.Steps[1].Cmd.Background = true
	h, err := c.Hold(ctx, clirun.Holding{
		Plan: plan,
		End: func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return []clirun.Step{c.remove(task)}
			}
			at = 2
			return []clirun.Step{c.stop(task, stop), c.remove(task)}
		},
		Place: func(ctx context.Context, pid int) engine.Place {
			p := engine.Place{Address: l.address, PID: pid}
			if l.address == "" {
				p.NoAddress = env.noAddress
			}
			return p
		},
		After: func(ctx context.Context, res *engine.Result) {
			if res.Events != nil {
				stopped(res, stopFailed)
			}
			if res.Failure != nil || res.Events[record.Removed] == 0 {
				env.clear(ctx, task, res)
			}
			undo()
			if err := env.Strike(task.Name); err != nil && res.Failure == nil {
				res.Failure = &record.Failure{Class: record.HarnessError, Text: err.Error()}
			}
		},
	})
	if err != nil {
		return nil, err
	}
	return &heldCLI{Held: h, c: c}, nil
}

// heldCLI is held by the command line.
type heldCLI struct {
	*clirun.Held
	c *commandLine
}

func (h *heldCLI) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	res, err := h.c.Exec(ctx, clirun.Plan{Task: task, Patterns: patterns,
		Steps: []clirun.Step{{Cmd: h.c.execute(h.Task().Name, task), Begin: record.Request}}})
	if err != nil || res.Failure != nil {
		adapter.KillInside(h.Place().PID, task.Argv)
	}
	return res, err
}

// launch is the command that makes and starts a container. It can override the
// devices of profiles and add none: mounts, with their volumes, lie in a profile
// of the container's own, which like the image is an input. undo must be called
// in any case.
func (env *environment) launch(ctx context.Context, l *life) (args []string, undo func(), err error) {
	name := l.Task.Name
	args = []string{"launch", env.alias, name, "--quiet", "--profile", profileName(env.spec), "--config", labelKey + "=" + env.d.run}
	undo = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		env.nic.giveBack(l.address)
		if err := env.removeBeside(ctx, l.Task); err != nil {
			env.Later(name) // what is left goes with the project
		}
	}
	if l.address = env.nic.take(); l.address != "" || len(l.Task.Mounts) > 0 {
		if err := l.makeVolumes(ctx); err != nil {
			return args, undo, err
		}
		args = append(args, "--config", "raw.lxc="+l.config()["raw.lxc"])
	}
	if devices := l.devices(); len(devices) > 0 {
		if err := env.d.call(ctx, http.MethodPost, "/1.0/profiles", map[string]any{"name": name, "config": env.d.label(), "devices": devices}); err != nil {
			return args, undo, err
		}
		args = append(args, "--profile", name)
	}
	return args, undo, nil
}

// exitOf is a command's exit status, where it came to that.
func exitOf(c probe.CommandResult) *int {
	if c.Errno != 0 || c.Exit == 0 {
		return nil
	}
	n := clirun.Status(c.Status)
	return &n
}
