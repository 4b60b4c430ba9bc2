package containerd

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// commandLine is the program ctr, run by the launcher: `ctr run --rm` is a
// container's whole life, and its end is the removal, so that exit and removed
// are one stamp. ctr's own configuration of a container stays, but for the
// flags that bring it to that of the level api: /run is a tmpfs, the limit of
// open files is 1024, and the host's name is seen.
type commandLine struct {
	*clirun.Base
	path      string
	socket    string
	namespace string
	fifos     string
}

func newCommandLine(ctx context.Context, kit *engine.Kit, spec engine.Spec, d *daemon) (*commandLine, error) {
	path, err := kit.LookPath("ctr")
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "finding the program ctr", Fix: "apt-get install containerd", Err: err}
	}
	base, err := clirun.NewBase(ctx, kit, spec, false)
	if err != nil {
		return nil, err
	}
	return &commandLine{Base: base, path: path, socket: d.socket, namespace: d.namespace, fifos: filepath.Join(kit.Dir, fifoDir)}, nil
}

func (c *commandLine) command(args ...string) probe.Command {
	argv := append([]string{c.path, "--address=" + c.socket, "--namespace=" + c.namespace}, args...)
	return probe.Command{Argv: argv, Env: []string{adapter.Path}}
}

// args are the settings for `ctr run`.
func (s *settings) args(task engine.Task, join, fifos string, more ...string) []string {
	args := append([]string{"run"}, more...)
	if join != "" {
		args = append(args, "--with-ns", "network:"+join)
	}
	for _, m := range mounts(task.Mounts) {
		args = append(args, "--mount", fmt.Sprintf("type=%s,src=%s,dst=%s,options=%s", m.Type, m.Source, m.Destination, strings.Join(m.Options, ":")))
	}
	args = append(args, "--fifo-dir", fifos, "--snapshotter", s.snapshotter, "--runtime", s.shim,
		"--label", engine.Label+"="+s.runID, "--allow-new-privs")
	if s.program != "" {
		args = append(args, "--runc-binary", s.program)
	}
	if s.config != "" {
		args = append(args, "--runtime-config-path", s.config)
	}
	if s.systemd {
		args = append(args, "--runc-systemd-cgroup")
	}
	args = append(args, "--cgroup", s.cgroup(task.Name))
	if s.hostNet {
		args = append(args, "--net-host")
	}
	if !s.seccompOff {
		args = append(args, "--seccomp")
	}
	if s.limits.CPUs > 0 {
		args = append(args, "--cpus", strconv.FormatFloat(s.limits.CPUs, 'f', -1, 64))
	}
	if n := s.limits.For(task).MemoryBytes; n > 0 {
		args = append(args, "--memory-limit", strconv.FormatInt(n, 10))
	}
	for _, kv := range task.Env {
		args = append(args, "--env", kv)
	}
	return append(append(args, s.image.Name(), task.Name), task.Argv...)
}

// runCLI is one `ctr run`.
func (env *environment) runCLI(ctx context.Context, task engine.Task, join string) (engine.Result, error) {
	c := env.cli
	remove := []string{"--rm"}
	if env.look != nil {
		remove = nil // the proof looks at the container first
	}
	run := clirun.Step{Cmd: c.command(env.settings.args(task, join, c.fifosOf(task.Name), remove...)...), Begin: record.Request, End: record.Removed, Removes: true}
	plan := clirun.Plan{Task: task, Steps: []clirun.Step{run},
		OOM:      cgroup.HostOr(func() bool { return env.oom.killed(ctx, task.Name) }),
		Patterns: patterns}
	if task.Stop != nil {
		plan.Steps[0].Cmd.Background = true
		term, kill := c.command("task", "kill", "-s", "SIGTERM", task.Name), c.command("task", "kill", "-s", "SIGKILL", task.Name)
		term.Await, kill.Await, kill.Grace = probe.AwaitReady, probe.AwaitGrace, task.Stop.Grace
		plan.Steps = append(plan.Steps, clirun.Step{Cmd: term, Begin: record.Stop, Name: "signalled"},
			clirun.Step{Cmd: kill, MayFail: true, Name: "killed"})
	}
	res, err := c.Run(ctx, plan)
	if err == nil && res.Failure == nil && env.look == nil {
		_ = safepath.RemoveAll(c.fifosOf(task.Name)) // it is empty
		env.After(ctx, task, &res)
		return res, nil
	}
	if err == nil && res.Failure == nil {
		res.Failure = env.lookAt(ctx, task.Name)
	}
	// Either the client was killed, or it was told not to remove.
	env.Clear(context.WithoutCancel(ctx), task, &res)
	if rerr := safepath.RemoveAll(c.fifosOf(task.Name)); rerr != nil && err == nil && res.Failure == nil {
		res.Failure = &record.Failure{Class: record.UncleanEnd, Text: "removing the FIFOs: " + rerr.Error()}
	}
	return res, err
}

func (env *environment) lookAt(ctx context.Context, name string) *record.Failure {
	c, err := env.d.LoadContainer(ctx, name)
	if err == nil {
		err = env.look(ctx, c)
	}
	if err != nil {
		return env.d.failure("looking at the container", err)
	}
	return nil
}

// kill is `ctr task kill`.
func (c *commandLine) kill(name, signal string) probe.Command {
	return c.command("task", "kill", "-s", signal, name)
}

// heldCLI is one `ctr run --rm`, in the background.
type heldCLI struct {
	*clirun.Held
	c *commandLine
	l *life
}

func (env *environment) holdCLI(ctx context.Context, task engine.Task) (engine.Held, error) {
	l, f := env.life(task)
	if f != nil {
		return nil, apirun.Refusal(task, f)
	}
	if err := env.AdmitHeld(ctx, task); err != nil {
		return nil, err
	}
	c := env.cli
	h, err := c.Hold(ctx, clirun.Holding{
		Plan: clirun.Plan{Task: task, OOM: cgroup.HostOr(func() bool { return env.oom.killed(ctx, task.Name) }), Patterns: patterns, Steps: []clirun.Step{
			{Cmd: c.command(env.settings.args(task, l.join, c.fifosOf(task.Name), "--rm")...), Begin: record.Request, End: record.Removed, Removes: true}}},
		End: func(stop *engine.Stop) []clirun.Step {
			if stop == nil {
				return nil
			}
			kill := c.kill(task.Name, "SIGKILL")
			kill.Await, kill.Grace = probe.AwaitGrace, stop.Grace
			return []clirun.Step{{Cmd: c.kill(task.Name, "SIGTERM"), Begin: record.Stop, Name: "signalled", MayFail: true},
				{Cmd: kill, MayFail: true, Name: "killed"}}
		},
		Place: func(ctx context.Context, _ int) engine.Place {
			p := env.place(l.address)
			p.PID, p.Background = env.pidOf(ctx, task.Name), true
			return p
		},
		After: func(ctx context.Context, res *engine.Result) {
			_ = safepath.RemoveAll(c.fifosOf(task.Name)) // else they go with the run
			env.AfterHeld(ctx, task, res)
		},
	})
	if err != nil {
		return nil, err
	}
	return &heldCLI{Held: h, c: c, l: l}, nil
}

// pidOf asks the daemon for a container's process; the payload is none of the
// client's children.
func (env *environment) pidOf(ctx context.Context, name string) int {
	if env.runtime.foreign {
		return 0
	}
	ctx, cancel := child.Within(ctx, askLimit)
	defer cancel()
	c, err := env.d.LoadContainer(ctx, name)
	if err != nil {
		return 0 // it has ended
	}
	task, err := c.Task(ctx, nil)
	if err != nil {
		return 0
	}
	return int(task.Pid())
}

// fifosOf is where ctr makes a container's FIFOs, which it leaves when it is killed.
func (c *commandLine) fifosOf(name string) string { return filepath.Join(c.fifos, name) }

// Exec runs `ctr task exec`, which takes no environment.
func (h *heldCLI) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	if len(task.Env) > 0 {
		return adapter.Refused(adapter.Unsupported("ctr task exec takes no environment")), nil
	}
	args := append([]string{"task", "exec", "--exec-id", "exec-" + adapter.Word(), "--fifo-dir", h.c.fifosOf(h.Task().Name), h.Task().Name}, task.Argv...)
	res, err := h.c.Exec(ctx, clirun.Plan{Task: task, Patterns: patterns,
		Steps: []clirun.Step{{Cmd: h.c.command(args...), Begin: record.Request}}})
	if err != nil || res.Failure != nil {
		adapter.KillInside(h.Place().PID, task.Argv)
	}
	return res, err
}

// calibrateCLI holds the clock exchange by the command line.
func (env *environment) calibrateCLI(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	defer func() { _ = safepath.RemoveAll(env.cli.fifosOf(task.Name)) }() // else they go with the run
	return env.cli.Exchange(ctx, task, env.cli.command(env.settings.args(task, "", env.cli.fifosOf(task.Name), "--rm")...), rounds)
}

// facts say which program it is: its version need not be the daemon's.
func (c *commandLine) facts(ctx context.Context) map[string]string {
	facts := map[string]string{"client": byCLI, "cli": c.path, "swap": "ctr sets no limit", engine.HeldFact: engine.HeldByUs}
	if out, err := tool(ctx, c.path, "--version"); err == nil {
		if f := strings.Fields(out); len(f) > 2 {
			facts["cli-version"] = f[2]
		}
	}
	return facts
}
