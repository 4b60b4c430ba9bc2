package apptainer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// call is the program with arguments. What env holds goes to the container.
func (e *environment) call(env []string, args ...string) probe.Command {
	prefix := strings.ToUpper(e.program.name)
	own := []string{prefix + "_CONFIGDIR=" + e.home, prefix + "_CACHEDIR=" + e.home}
	// From / nothing of the working directory is bound in.
	return adapter.As(probe.Command{Argv: append([]string{e.program.path}, args...), Env: append(own, env...), Dir: "/"}, e.user, e.Kit)
}

// exec is one command in a new container.
func (e *environment) exec(task engine.Task, options []string) probe.Command {
	args := append(append([]string{"exec"}, options...), e.image)
	return e.call(task.Env, append(args, task.Argv...)...)
}

// inside is one more command in an instance.
func (e *environment) inside(name string, task engine.Task) probe.Command {
	return e.call(task.Env, append([]string{"exec", "instance://" + name}, task.Argv...)...)
}

// options are the program's for what the levels and a trial ask for.
func (e *environment) options(task engine.Task) ([]string, error) {
	options := e.flags()
	if task.Beside != nil && e.netNone {
		pid := task.Beside.Place().PID
		if pid == 0 {
			return nil, &engine.Error{Class: record.EngineError, Text: "the payload of the container to share namespaces with was not found"}
		}
		options = []string{fmt.Sprintf("--netns-path=/proc/%d/ns/net", pid)} // root only, as this network is
	}
	if task.Own && e.noOwn != "" {
		return nil, adapter.Unsupported(e.noOwn)
	}
	if task.Own {
		options = append(options, "--writable-tmpfs")
	}
	for _, m := range task.Mounts {
		switch {
		case m.Kind == engine.Bind:
			options = append(options, "--bind", m.Source+":"+m.Target)
		case m.Kind == engine.Tmpfs && m.SizeBytes == 0:
			options = append(options, "--scratch", m.Target)
		case m.Kind == engine.Tmpfs:
			return nil, adapter.Unsupported("Apptainer's scratch directories have the size that its configuration says for all")
		default:
			return nil, adapter.Unsupported("Apptainer has no volumes")
		}
	}
	return options, nil
}

func (e *environment) finish(p clirun.Plan) clirun.Plan {
	p.EngineStatus = func(n int) bool { return n == 255 }
	p.Patterns = []adapter.Pattern{{Text: "could not open image", Class: record.Unavailable}, failedConversion}
	return p
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	options, err := e.options(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	return e.converting(task, func(task engine.Task) (engine.Result, error) {
		return e.Base.Run(ctx, e.finish(clirun.Attached(task, e.exec(task, options))))
	})
}

// Hold starts an instance and executes the payload in it; from a plain directory
// it runs a command in the background.
func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	options, err := e.options(task)
	if err != nil {
		return nil, err
	}
	words, done, err := e.scratch(task.Name)
	if err != nil {
		return nil, err
	}
	outer := task
	outer.Env = slices.Concat(words, task.Env)
	if !e.instances {
		h, err := e.Base.Hold(ctx, clirun.Holding{Plan: e.finish(clirun.Attached(outer, e.exec(outer, options))), Place: e.place,
			After: func(_ context.Context, res *engine.Result) { cleared(res, done()) }})
		if err != nil {
			return nil, err
		}
		return h, nil
	}
	args := append(append([]string{"instance", "start"}, e.instanceLimits()...), options...)
	args = append(args, e.image, task.Name)
	plan := clirun.Plan{Task: task, Payload: 1, Steps: []clirun.Step{
		{Begin: record.Request, End: record.Created, Cmd: e.call(outer.Env, args...)},
		{Begin: record.Start, Cmd: e.inside(task.Name, task)},
	}}
	if err := e.Kit.Ledger.Made(e.thing(task.Name)); err != nil {
		return nil, errors.Join(err, done())
	}
	h, err := e.Base.Hold(ctx, clirun.Holding{Plan: e.inInstance(plan), Place: e.place,
		After: func(ctx context.Context, res *engine.Result) {
			if err := e.leave(ctx, task.Name); err != nil && res.Failure == nil {
				res.Failure = &record.Failure{Class: record.HarnessError, Text: err.Error()}
			}
			cleared(res, done())
		},
		// The program that executes in an instance hands no signal on.
		ToPayload: true,
		End: func(*engine.Stop) []clirun.Step {
			stop := e.call(nil, "instance", "stop", task.Name)
			stop.Await, stop.Always = probe.AwaitContainerExit, true
			return []clirun.Step{{End: record.Removed, Cmd: stop}}
		}})
	if err != nil {
		return nil, err
	}
	return h.WithExec(func(inner engine.Task) (clirun.Plan, error) {
		return e.inInstance(clirun.Attached(inner, e.inside(task.Name, inner))), nil
	}), nil
}

// inInstance finishes the plan of what runs in an instance. Root's is in no group of
// ours, which could tell of a kill for want of memory.
func (e *environment) inInstance(p clirun.Plan) clirun.Plan {
	if e.user == nil {
		p.OOM = cgroup.HostOOMWatch()
	}
	return e.finish(p)
}

// instanceLimits are the limits of root's instance: Apptainer puts it into a
// control group of its own, which is not below ours.
func (e *environment) instanceLimits() (options []string) {
	if e.user != nil {
		return nil
	}
	if n := e.Spec.Limits.MemoryBytes; n > 0 {
		options = append(options, "--memory", strconv.FormatInt(n, 10))
	}
	if n := e.Spec.Limits.CPUs; n > 0 {
		options = append(options, "--cpus", strconv.FormatFloat(n, 'f', -1, 64))
	}
	return options
}

func (e *environment) place(ctx context.Context, pid int) engine.Place {
	p := clirun.HostPlace(ctx, pid)
	p.Background = !e.instances
	if e.netNone {
		p.Address, p.NoAddress = "", "its network namespace is empty"
	}
	return p
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	var out []probe.Exchange
	_, err := e.converting(task, func(task engine.Task) (res engine.Result, err error) {
		out, err = e.Exchange(ctx, task, e.exec(task, e.flags()), rounds)
		return res, err
	})
	return out, err
}
