package oci

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"plimsoll/internal/common/safepath"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// bundle writes a container's bundle, which is an input and lies outside of
// what is measured. The directory is the container's own.
func (e *environment) bundle(task engine.Task) (dir string, err error) {
	b := bundle{root: e.rootfs, argv: task.Argv, env: task.Env, hostname: task.Name, hostNet: e.options.hostNet,
		limits: e.Spec.Limits.For(task), cgroup: "/" + task.Name, cgroupNS: e.cgroupNS, mounts: task.Mounts, shared: e.shared(), omits: e.Spec.Omitted(), adds: e.Spec.Extra()}
	if len(b.hostname) > 63 {
		b.hostname = b.hostname[:63]
	}
	if err := e.refuseMounts(task); err != nil {
		return "", err
	}
	if task.Beside != nil && !e.options.hostNet {
		if b.netPath, err = e.beside(task.Beside); err != nil {
			return "", err
		}
	}
	if err := cgroup.Vacant(task.Name); err != nil {
		return "", err
	}
	if err := e.Kit.Ledger.Made(e.thing(task.Name)); err != nil {
		return "", fmt.Errorf("noting the container in the ledger: %w", err)
	}
	dir = filepath.Join(e.dir, task.Name)
	if err := b.write(dir); err != nil {
		return "", errors.Join(err, e.Kit.Ledger.Gone(e.thing(task.Name)))
	}
	if e.groupBefore() {
		if err := cgroup.MakeNamed(task.Name); err != nil { // the sweep looks for what was made
			return "", errors.Join(err, safepath.RemoveAll(dir))
		}
	}
	return dir, nil
}

// groupBefore says whether the control group is made before the runtime is asked.
func (e *environment) groupBefore() bool {
	return e.Spec.Omits(engine.GroupMaking) && !e.Spec.Omits(engine.OwnCgroup)
}

// shared is the directory of the host's that containers have mounted with other ids.
func (e *environment) shared() string { return filepath.Join(e.dir, "shared") }

// refuseMounts: runtimes make a missing mount point in the image's directory,
// which is shared.
func (e *environment) refuseMounts(task engine.Task) error {
	if task.Own {
		return adapter.Unsupported("a bare runtime's container has a read-only file system: a layer to write in is a manager's")
	}
	for _, m := range task.Mounts {
		if m.Kind == engine.Volume {
			return adapter.Unsupported("a bare runtime has no volumes: they are a manager's")
		}
		if fi, err := os.Lstat(filepath.Join(e.rootfs, m.Target)); err != nil || !fi.IsDir() {
			return adapter.Unsupported(fmt.Sprintf("the image has no directory %s to mount on, and its root is read-only", m.Target))
		}
	}
	return nil
}

// beside is the network namespace of a held container.
func (e *environment) beside(held engine.Held) (string, error) {
	if e.program.name == "runsc" {
		return "", adapter.Unsupported("gVisor's sandbox has a network stack of its own, which another one can't share")
	}
	if e.program.name == "youki" { // 0.7.0: `ip link` in its container says so, under runc and crun it is up
		return "", adapter.Unsupported("youki leaves the loopback of a container's own network namespace down, so that a container that shares it reaches nothing")
	}
	pid := held.Place().PID
	if pid == 0 {
		return "", &engine.Error{Class: record.HarnessError, Text: "the payload of the container to share namespaces with was not found"}
	}
	return fmt.Sprintf("/proc/%d/ns/net", pid), nil
}

// after clears a container away: what a failure left, and the bundle.
func (e *environment) after(ctx context.Context, name, dir string, failed bool) error {
	var errs []error
	if failed {
		if err := e.clear(ctx, name); err != nil {
			errs = append(errs, fmt.Errorf("clearing away: %w", err))
		}
	} else if e.groupBefore() { // a runtime need not remove what it has not made
		errs = append(errs, cgroup.RemoveNamed(ctx, e.Kit.Ledger, name))
	}
	if err := safepath.RemoveAll(dir); err != nil {
		errs = append(errs, fmt.Errorf("removing the bundle: %w", err))
	}
	if errors.Join(errs...) == nil { // else the sweep looks once more
		errs = append(errs, e.Kit.Ledger.Gone(e.thing(name)))
	}
	return errors.Join(errs...)
}

func (e *environment) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	dir, err := e.bundle(task)
	if err != nil {
		return adapter.Refused(err), nil
	}
	res, err := e.Base.Run(ctx, e.plan(task, dir, e.oneCall))
	aerr := e.after(context.WithoutCancel(ctx), task.Name, dir, err != nil || res.Failure != nil)
	if err != nil {
		return res, errors.Join(err, aerr)
	}
	adapter.Unclean(&res, aerr)
	return res, nil
}

func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	dir, err := e.bundle(task)
	if err != nil {
		return nil, err
	}
	h, err := e.Base.Hold(ctx, clirun.Holding{
		Plan: clirun.Plan{Task: task, Steps: e.begin(task, dir, e.oneCall)},
		End: func(stop *engine.Stop) []clirun.Step {
			steps := e.end(task.Name, stop, e.oneCall)
			for i := range steps {
				// A container that ends by itself at the same moment can't be killed.
				steps[i].MayFail = steps[i].MayFail || steps[i].Begin == record.Stop
			}
			return steps
		},
		Place: func(ctx context.Context, pid int) engine.Place { return e.place(ctx, task.Name, pid) },
		After: func(ctx context.Context, res *engine.Result) {
			adapter.Unclean(res, e.after(ctx, task.Name, dir, res.Failure != nil || res.Events[record.Removed] == 0))
		},
	})
	if err != nil {
		return nil, err
	}
	return h.WithExec(func(inner engine.Task) (clirun.Plan, error) { return e.exec(task.Name, dir, inner) }), nil
}

func (e *environment) place(ctx context.Context, name string, pid int) engine.Place {
	p := engine.Place{PID: pid, Address: "127.0.0.1", Background: e.oneCall}
	if !e.options.hostNet {
		p.Address, p.NoAddress = "", "its network namespace is empty: networks are a manager's work"
	}
	// The runtime knows best: a payload may have become another program, and
	// gVisor's is in its sandbox.
	if text, err := tool(ctx, e.path, append(e.program.global(e.options), "state", name)...); err == nil {
		var state struct{ Pid int }
		if json.Unmarshal([]byte(text), &state) == nil && state.Pid > 0 {
			p.PID = state.Pid
		}
	}
	return p
}

// exec is one more program in a container, with the rights of the first.
func (e *environment) exec(name, dir string, task engine.Task) (clirun.Plan, error) {
	file := filepath.Join(dir, "exec-"+task.Name+".json")
	text, err := json.Marshal(process(task.Argv, task.Env))
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	return clirun.Attached(task, e.command("exec", "--process", file, name)), err
}

func (e *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	dir, err := e.bundle(task)
	if err != nil {
		return nil, err
	}
	xs, err := e.ExchangePlan(ctx, e.plan(task, dir, false), rounds)
	return xs, errors.Join(err, e.after(context.WithoutCancel(ctx), task.Name, dir, err != nil))
}
