package bubblewrap

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// command: with --die-with-parent nothing outlives a bwrap that was killed.
func (e *environment) command(task engine.Task, options ...string) probe.Command {
	argv := append([]string{e.path}, e.unshare()...)
	argv = append(argv, "--die-with-parent", "--ro-bind", e.image, "/", "--proc", "/proc", "--dev", "/dev")
	argv = append(append(argv, options...), "--chdir", "/", "--")
	// bwrap hands its environment down to the container.
	return adapter.As(probe.Command{Argv: append(argv, task.Argv...), Env: task.Env, Dir: "/"}, e.user, e.Kit)
}

// unshare are the options for the namespaces.
func (e *environment) unshare() []string {
	if e.Spec.Level(engine.Without) == engine.DefaultLevel {
		if e.host {
			return []string{"--unshare-all", "--share-net", "--as-pid-1"}
		}
		return []string{"--unshare-all", "--as-pid-1"}
	}
	var argv []string
	for _, n := range []struct {
		mechanism string
		options   []string
	}{{engine.UserNamespace, []string{"--unshare-user-try"}}, {engine.CgroupNamespace, []string{"--unshare-cgroup-try"}},
		{engine.PIDNamespace, []string{"--unshare-pid", "--as-pid-1"}}, {engine.IPCNamespace, []string{"--unshare-ipc"}}, {engine.UTSNamespace, []string{"--unshare-uts"}}} {
		if !e.Spec.Omits(n.mechanism) {
			argv = append(argv, n.options...)
		}
	}
	if !e.host {
		argv = append(argv, "--unshare-net")
	}
	return argv
}

// options are bwrap's for what a trial wants beside its program.
func (e *environment) options(task engine.Task) ([]string, error) {
	switch {
	case task.Own:
		return nil, adapter.Unsupported("bwrap of this version has no layer to write in: its containers' file system is read-only")
	case task.Beside != nil && !e.host:
		return nil, adapter.Unsupported("bwrap makes an empty network namespace for each container and joins none")
	}
	var options []string
	for _, m := range task.Mounts {
		// bwrap would make a missing mount point in the image, which is read-only.
		if fi, err := os.Lstat(filepath.Join(e.image, m.Target)); err != nil || !fi.IsDir() {
			return nil, adapter.Unsupported(fmt.Sprintf("the image has no directory %s to mount on, and its root is read-only", m.Target))
		}
		switch m.Kind {
		case engine.Bind:
			options = append(options, "--bind", m.Source, m.Target)
		case engine.Tmpfs:
			options = append(options, "--perms", "1777")
			if m.SizeBytes > 0 {
				options = append(options, "--size", strconv.FormatInt(m.SizeBytes, 10))
			}
			options = append(options, "--tmpfs", m.Target)
		default:
			return nil, adapter.Unsupported("bubblewrap has no volumes")
		}
	}
	return options, nil
}

func (e *environment) plan(task engine.Task, options []string) clirun.Plan {
	p := clirun.Attached(task, e.command(task, options...))
	// bwrap says what went wrong with its own name in front and ends with 1.
	p.EngineStatus = func(n int) bool { return n == 1 }
	p.Patterns = []adapter.Pattern{
		{Text: "can't find source path", Class: record.Unavailable},
		{Text: "no permissions to create new namespace", Class: record.Unavailable},
		{Text: "creating new namespace failed", Class: record.Unavailable},
	}
	return p
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if task.Stop != nil {
		return adapter.Refused(adapter.Unsupported(
			"bubblewrap has no stop: bwrap stays between and hands no signal on to the payload")), nil
	}
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	return e.Base.Run(ctx, e.plan(task, options))
}

// Hold keeps bwrap in the background: it can't detach. It can't join the
// namespaces of a container either, so nothing can be executed in one.
func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	options, err := e.options(task)
	if err != nil {
		return nil, err
	}
	return clirun.AsHeld(e.Base.Hold(ctx, clirun.Holding{Plan: e.plan(task, options), ToPayload: true, Place: e.place}))
}

func (e *environment) place(ctx context.Context, pid int) engine.Place {
	p := clirun.HostPlace(ctx, pid)
	if !e.host {
		p.Address, p.NoAddress = "", "its network namespace is empty: bwrap makes no networks"
	}
	return p
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	return e.Exchange(ctx, task, e.command(task), rounds)
}
