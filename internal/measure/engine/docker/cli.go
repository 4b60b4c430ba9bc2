package docker

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plimsoll/internal/measure/child"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// commandLine is the program docker, run by the launcher in an environment of
// ours: with an empty configuration directory, so that neither contexts, nor
// credentials, nor plug-ins, nor hints of the user's are read.
type commandLine struct {
	*clirun.Base
	path string
	env  []string
}

// newCommandLine finds the program; the error is of class Unavailable where
// there is none.
func newCommandLine(ctx context.Context, kit *engine.Kit, spec engine.Spec, d *daemon) (*commandLine, error) {
	path, err := kit.LookPath(d.flavour.program)
	if err != nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "finding the program " + d.flavour.program, Fix: d.flavour.cliPackage, Err: err}
	}
	config := filepath.Join(kit.Dir, "docker-config")
	if err := os.MkdirAll(config, 0o700); err != nil {
		return nil, fmt.Errorf("making an empty configuration for the program docker: %w", err)
	}
	base, err := clirun.NewBase(ctx, kit, spec, false)
	if err != nil {
		return nil, err
	}
	c := &commandLine{Base: base, path: path, env: []string{
		"PATH=" + kit.Getenv("PATH"), "HOME=" + config, "DOCKER_CONFIG=" + config, "DOCKER_HOST=" + d.host,
	}}
	if v := kit.Getenv("DOCKER_API_VERSION"); v != "" {
		c.env = append(c.env, "DOCKER_API_VERSION="+v)
	}
	return c, nil
}

func (c *commandLine) close(ctx context.Context) error { return c.Base.Close(ctx) }

func (c *commandLine) command(args ...string) probe.Command {
	return probe.Command{Argv: append([]string{c.path}, args...), Env: c.env}
}

// facts say which program it is: its version need not be the daemon's.
func (c *commandLine) facts(ctx context.Context) map[string]string {
	facts := map[string]string{"cli": c.path, "cli-config": "empty"}
	out, err := child.Run(ctx, child.Command{Argv: []string{c.path, "--version"}, Env: c.env, Limit: engine.DetectLimit})
	if err == nil {
		facts["cli-version"] = cliVersion(string(out.Stdout))
	}
	return facts
}

// cliVersion reads what a client and a daemon print on --version: "Docker version
// 20.10.24+dfsg1, build 297e128".
func cliVersion(out string) string {
	_, v, _ := strings.Cut(strings.TrimSpace(out), " version ")
	v, _, _ = strings.Cut(v, ",")
	return v
}

// runCLI is one `docker run --rm`: its end is the container's removal.
func (env *environment) runCLI(ctx context.Context, task engine.Task, began time.Time) (engine.Result, error) {
	c := env.cli
	remove := []string{"--rm"}
	if env.look != nil {
		remove = nil // the proof looks at the container first
	}
	run := clirun.Step{Cmd: c.command(env.settings.args(task, remove...)...), Begin: record.Request, End: record.Removed, Removes: true}
	plan := clirun.Plan{
		Task: task, Steps: []clirun.Step{run},
		EngineStatus: engineStatus,
		OOM:          cgroup.HostOr(func() bool { return env.d.oomKilled(ctx, task.Name, began) }),
		Patterns:     patterns,
	}
	if task.Stop != nil {
		plan.Steps[0].Cmd.Background = true
		stop := c.command("stop", "-t", strconv.Itoa(graceSeconds(*task.Stop)), task.Name)
		stop.Await = probe.AwaitReady
		plan.Steps = append(plan.Steps, clirun.Step{Cmd: stop, Begin: record.Stop, End: record.Stopped})
	}
	res, err := c.Run(ctx, plan)
	res.Stdout = adapter.Plain(res.Stdout, env.settings.adds)
	after := context.WithoutCancel(ctx)
	if err != nil || res.Failure != nil {
		env.clear(after, task, &res, err)
		return res, err
	}
	if env.look != nil {
		lerr := env.look(ctx, task.Name)
		if lerr != nil {
			res.Failure = env.d.failure("inspecting the container", lerr)
		}
		env.Clear(after, task, &res)
		return res, nil
	}
	env.After(after, task, &res)
	return res, nil
}

// clear is after a client that was killed at its time limit, or never came to remove.
// Its request may not even have been read yet, so it is looked for once more, later.
func (env *environment) clear(ctx context.Context, task engine.Task, res *engine.Result, err error) {
	env.Clear(ctx, task, res)
	if err != nil || res.Failure != nil && res.Failure.Class == record.TimeOut {
		env.Later(task.Name)
	}
}

// engineStatus says which exit statuses are the program's own.
func engineStatus(n int) bool { return n >= 125 && n <= 127 }

// patterns are pieces of Docker's messages with what they stand for.
var patterns = []adapter.Pattern{
	{Text: "unknown or invalid runtime name", Class: record.Unavailable},
	{Text: "unknown runtime specified", Class: record.Unavailable},
	{Text: "error during connect", Class: record.Unavailable},
	{Text: "error waiting for container: unexpected eof", Class: record.Unavailable},
}

// Calibrate needs the container's standard input, which the command line attaches
// for both clients alike.
func (env *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	if env.cli == nil {
		return nil, &engine.Error{Class: record.Unavailable, Text: "exchanging clocks needs the program " + env.d.flavour.program, Fix: env.d.flavour.cliPackage}
	}
	cmd := env.cli.command(env.settings.args(task, "--rm", "--interactive")...)
	return env.Exchange(ctx, task, func() ([]probe.Exchange, error) { return env.cli.Exchange(ctx, task, cmd, rounds) })
}
