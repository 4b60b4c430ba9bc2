package containerd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is one more program in a container, from Exec to Delete as `ctr
// task exec` does it.
type execution struct {
	life // its streams, its stamps, its judge
	in   *life
	p    client.Process
}

// Exec is documented in engine.Executor.
func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("executing %s: %w", task.Name, err)
	}
	x := &execution{life: life{d: h.l.d, kit: h.l.kit, task: task, settings: h.l.settings}, in: h.l}
	limit, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	x.begin()
	restore := stamp.Quiet()
	err := x.run(limit)
	restore()
	res := x.settle(limit, err)
	if res.Exit != nil && *res.Exit == 128+9 && h.env.oom.killed(ctx, h.l.task.Name) {
		res.Failure = &record.Failure{Class: record.OutOfMemory, Text: "the kernel killed the program for want of memory"}
	}
	if ctx.Err() != nil {
		return res, fmt.Errorf("executing %s: %w", task.Name, ctx.Err())
	}
	return res, nil
}

func (x *execution) run(ctx context.Context) error {
	ev := x.res.Events
	x.phase = "reading the container's configuration"
	spec, err := x.in.container.Spec(ctx) // the client's own users do it before, too
	if err != nil {
		return err
	}
	process := *spec.Process
	process.Args, process.Env, process.Terminal = x.task.Argv, append(slices.Clone(process.Env), x.task.Env...), false

	x.phase = "executing the program"
	ev[record.Request] = stamp.Now()
	ev[record.Exec] = ev[record.Request]
	x.p, err = x.in.live.Exec(ctx, "exec-"+adapter.Word(), &process, func(id string) (cio.IO, error) { return x.streams(x.task.Name + "-" + id) })
	if err != nil {
		return err
	}
	if x.end, err = watch(ctx, x.p, x.io); err != nil {
		return err
	}
	if err := x.p.Start(ctx); err != nil {
		return err
	}
	x.step("exec-started", stamp.Now())
	x.phase = "waiting for the program's end"
	e, err := x.end.await(ctx)
	if err != nil {
		return err
	}
	ev[record.Exit], x.res.Exit = e.seen, &e.status
	return nil
}

// settle judges, and removes the daemon's account of the program.
func (x *execution) settle(ctx context.Context, err error) engine.Result {
	if err != nil {
		x.res.Failure = x.judge(ctx, err)
	}
	if x.p != nil {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeLimit)
		defer cancel()
		if derr := deleteProcess(after, x.p); derr != nil && x.res.Failure == nil && !closed(x.in.end.done) {
			x.res.Failure = x.d.failure("removing the program", derr)
		}
	}
	x.made = false // the container is not ours to remove
	res, _ := x.life.settle(ctx, nil)
	if res.Failure == nil && res.Exit != nil {
		res.Failure = adapter.SignalFailure(*res.Exit, false)
	}
	return res
}

// deleteProcess kills a program where it still runs, and deletes it.
func deleteProcess(ctx context.Context, p client.Process) error {
	_, err := p.Delete(ctx)
	if err == nil || errdefs.IsNotFound(err) {
		return nil
	}
	w, werr := p.Wait(ctx)
	if werr != nil {
		return errors.Join(err, werr)
	}
	if err := signal(ctx, p, syscall.SIGKILL); err != nil {
		return err
	}
	<-w
	if _, err = p.Delete(ctx); errdefs.IsNotFound(err) {
		return nil
	}
	return err
}
