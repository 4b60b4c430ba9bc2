package containerd

import (
	"context"
	"errors"
	"slices"
	"syscall"

	"github.com/containerd/containerd/v2/client"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/errdefs"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is one more program in a container, from Exec to Delete as `ctr
// task exec` does it.
type execution struct {
	streams
	in *life
	p  client.Process
}

func (l *life) Program(task engine.Task, _ engine.Place) (apirun.Process, *record.Failure) {
	return &execution{streams: streams{Life: apirun.NewLife(task)}, in: l}, nil
}

func (x *execution) Up(ctx, stay context.Context) error {
	ev := x.Res.Events
	x.Phase("reading the container's configuration")
	spec, err := x.in.container.Spec(ctx) // the client's own users do it before, too
	if err != nil {
		return err
	}
	process := *spec.Process
	process.Args, process.Env, process.Terminal = x.Task.Argv, append(slices.Clone(process.Env), x.Task.Env...), false

	x.Phase("executing the program")
	ev[record.Request] = stamp.Now()
	ev[record.Exec] = ev[record.Request]
	x.p, err = x.in.live.Exec(ctx, "exec-"+adapter.Word(), &process, func(id string) (cio.IO, error) { return x.open(x.in.env.kit, x.Task.Name+"-"+id) })
	if err != nil {
		return err
	}
	if err := x.watch(stay, x.p); err != nil {
		return err
	}
	settled := x.io.within(ctx)
	err = x.p.Start(ctx)
	settled()
	if err != nil {
		return err
	}
	x.Step("exec-started", stamp.Now())
	x.Phase("waiting for the program's end")
	return nil
}

func (x *execution) OOM(ctx context.Context) bool { return x.in.OOM(ctx) }

// Release removes the daemon's account of the program, too.
func (x *execution) Release(ctx context.Context) (f *record.Failure) {
	if x.p != nil {
		after, cancel := context.WithTimeout(ctx, removeLimit)
		defer cancel()
		err := deleteProcess(after, x.p)
		select {
		case <-x.in.End.Told: // it went with its container
		default:
			if err != nil {
				f = x.in.env.d.failure("removing the program", err)
			}
		}
	}
	if s := x.streams.Release(ctx); f == nil {
		f = s
	}
	return f
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
