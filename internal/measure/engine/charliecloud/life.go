package charliecloud

import (
	"context"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// command is ch-run with further options for a program in the image.
func (e *environment) command(task engine.Task, options ...string) probe.Command {
	argv := []string{e.path}
	if e.squash {
		argv = append(argv, "--mount="+e.mount)
	}
	// ch-run hands its environment down to the container. But its own TMPDIR
	// is to it the host's directory that becomes the container's /tmp.
	var env []string
	for _, v := range task.Env {
		if strings.HasPrefix(v, "TMPDIR=") {
			argv = append(argv, "--set-env="+v)
		} else {
			env = append(env, v)
		}
	}
	for _, m := range mechanisms {
		if m.Factor == engine.Without && e.Spec.Omits(m.To) || m.Factor == engine.With && e.Spec.Adds(m.To) {
			argv = append(argv, changeArgs[m.To])
		}
	}
	argv = append(append(argv, options...), e.image, "--")
	return adapter.As(probe.Command{Argv: append(argv, task.Argv...), Env: env, Dir: "/"}, e.user, e.Kit)
}

// options are ch-run's for what a trial wants beside its program. The network
// is the host's, so that any two containers are beside each other.
func (e *environment) options(task engine.Task) ([]string, error) {
	var options []string
	if task.Own {
		if !e.fake {
			return nil, adapter.Unsupported("this ch-run mounts an image read-only, or lets its containers write into the image itself; it has no --write-fake")
		}
		options = append(options, "--write-fake")
	}
	for _, m := range task.Mounts {
		switch {
		case m.Kind == engine.Bind:
			options = append(options, "--bind="+m.Source+":"+m.Target)
		case m.Kind == engine.Tmpfs && m.Target == "/tmp" && m.SizeBytes == 0:
			options = append(options, "--private-tmp")
		case m.Kind == engine.Tmpfs:
			return nil, adapter.Unsupported("Charliecloud has no tmpfs but for /tmp, and no size for it")
		default:
			return nil, adapter.Unsupported("Charliecloud has no volumes")
		}
	}
	return options, nil
}

func (e *environment) plan(task engine.Task, cmd probe.Command) clirun.Plan {
	p := clirun.Attached(task, cmd)
	p.Patterns = []adapter.Pattern{{Text: "can't stat", Class: record.Unavailable}}
	return p
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	if task.Stop != nil && e.squash {
		return adapter.Refused(adapter.Unsupported(
			"Charliecloud has no stop, and with SquashFS ch-run stays between, so that a signal to it does not reach the payload")), nil
	}
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	return e.Base.Run(ctx, e.plan(task, e.command(task, options...)))
}

// Hold keeps ch-run in the background: it can't detach.
func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	options, err := e.options(task)
	if err != nil {
		return nil, err
	}
	h, err := e.Base.Hold(ctx, clirun.Holding{Plan: e.plan(task, e.command(task, options...)), ToPayload: e.squash})
	if err != nil {
		return nil, err
	}
	return h.WithExec(func(inner engine.Task) (clirun.Plan, error) {
		pid := h.Place().PID
		if pid == 0 {
			return clirun.Plan{}, &engine.Error{Class: record.EngineError, Text: "the payload that ch-run is to join was not found"}
		}
		return e.plan(inner, e.command(inner, "--join-pid="+strconv.Itoa(pid))), nil
	}), nil
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	return e.Exchange(ctx, task, e.command(task), rounds)
}
