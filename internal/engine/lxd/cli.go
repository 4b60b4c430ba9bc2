package lxd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/probe"
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
	env.undo = append(env.undo, func(context.Context) error { return os.RemoveAll(home) })
	base, err := clirun.NewBase(ctx, kit, env.spec, false)
	if err != nil {
		return nil, err
	}
	return &commandLine{Base: base, path: path, env: []string{
		clirun.Path, "HOME=" + home, v.prefix + "_CONF=" + home, v.prefix + "_SOCKET=" + env.d.socket,
	}, project: env.d.project}, nil
}

// facts say which program it is: its version need not be the daemon's.
func (c *commandLine) facts(ctx context.Context) map[string]string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	facts := map[string]string{"client": byCLI, "cli": c.path, "cli-config": "empty"}
	cmd := exec.CommandContext(ctx, c.path, "--version")
	cmd.Env = c.env
	if out, err := cmd.Output(); err == nil {
		facts["cli-version"] = strings.TrimSpace(string(out))
	}
	return facts
}

func (c *commandLine) command(args ...string) probe.Command {
	return probe.Command{Argv: append([]string{c.path, "--project", c.project}, args...), Env: c.env, Dir: "/"}
}

// runCLI is launch, exec, stop where one is asked for, and delete --force. The
// init's stamp is not read: that would be one more command in the removal.
func (env *environment) runCLI(ctx context.Context, task engine.Task) (engine.Result, error) {
	c := env.cli
	run := []string{"exec", task.Name, "--mode", "non-interactive", "--disable-stdin"}
	for _, kv := range task.Env {
		run = append(run, "--env", kv)
	}
	plan := clirun.Plan{Task: task, Payload: 1, Patterns: patterns, Steps: []clirun.Step{
		{Cmd: c.command("launch", env.alias, task.Name, "--profile", profileName(env.spec), "--quiet"), Begin: record.Request, End: record.Started},
		{Cmd: c.command(append(append(run, "--"), task.Argv...)...), Begin: record.Exec},
	}}
	remove := clirun.Step{Cmd: c.command("delete", "--force", task.Name), End: record.Removed}
	remove.Cmd.Always = true
	stopFailed := false
	if task.Stop != nil {
		plan.Steps[1].Cmd.Background = true
		stop := c.command("stop", task.Name, "--timeout", strconv.Itoa(seconds(task.Stop.Grace)))
		stop.Await = probe.AwaitReady
		plan.Steps = append(plan.Steps, clirun.Step{Cmd: stop, Begin: record.Stop, End: record.Stopped, MayFail: true})
		plan.Exit = func(job *probe.JobResult) *int {
			stopFailed = job.Commands[2].Status != 0
			return exitOf(job.Commands[1])
		}
	}
	if env.look == nil {
		plan.Steps = append(plan.Steps, remove)
	}
	res, err := c.Run(ctx, plan)
	if stopFailed {
		// The command ends with an error when the grace is over; the removal ends the container.
		res.Events[record.Stopped] = res.Events[record.Removed]
	}
	if env.look != nil && err == nil && res.Failure == nil {
		if lerr := env.look(ctx, task.Name); lerr != nil {
			res.Failure = env.d.failure("looking at the container", lerr)
		}
	}
	if err != nil || res.Failure != nil || env.look != nil {
		if rerr := env.d.removeInstance(context.WithoutCancel(ctx), task.Name); rerr != nil {
			env.left = append(env.left, task.Name)
			if res.Failure != nil {
				res.Failure.Text += "; " + rerr.Error()
			}
		}
	}
	return res, err
}

// exitOf is a command's exit status, where it came to that.
func exitOf(c probe.CommandResult) *int {
	if c.Errno != 0 || c.Exit == 0 {
		return nil
	}
	n := c.Status >> 8 & 0xff
	if sig := c.Status & 0x7f; sig != 0 {
		n = 128 + sig
	}
	return &n
}
