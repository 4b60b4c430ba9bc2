package docker

import (
	"context"
	"fmt"
	"strings"

	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Exec is documented in engine.Executor.
func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	return h.env.execAPI(ctx, h.containerName(), h.place.PID, task)
}

// execution is one program that is executed in a container by the API, in the
// order of `docker exec`: create, start with an attachment, read to the end,
// ask for the status.
type execution struct {
	d     *daemon
	in    string
	task  engine.Task
	res   engine.Result
	phase string
	id    string
	out   *output
}

// execAPI executes in a container whose first process is pid.
func (env *environment) execAPI(ctx context.Context, in string, pid int, task engine.Task) (engine.Result, error) {
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	x := &execution{d: env.d, in: in, task: task}
	x.res.Events = make(map[record.Event]int64, 3)
	restore := stamp.Quiet()
	err := x.live(ctx)
	restore()
	if err != nil {
		x.res.Failure = env.d.failure(x.phase, err)
		if ctx.Err() != nil {
			x.res.Failure = &record.Failure{Class: record.TimeOut,
				Text: fmt.Sprintf("did not end within %v and was killed, while %s", task.Limit, x.phase)}
			adapter.KillInside(pid, task.Argv)
		}
	}
	if x.out != nil {
		x.out.close()
		<-x.out.done
		x.res.Stdout, x.res.Stderr = x.out.stdout.Kept(), x.out.stderr.Kept()
		if at := x.out.stdout.First(); at != 0 {
			x.res.Events[record.Ready] = at
		}
	}
	if x.res.Failure == nil && x.res.Exit != nil {
		x.res.Failure = execFailure(*x.res.Exit, x.res)
	}
	if caller.Err() != nil {
		return x.res, fmt.Errorf("executing in %s: %w", in, caller.Err())
	}
	return x.res, nil
}

func (x *execution) live(ctx context.Context) error {
	ev := x.res.Events
	x.phase = "creating the execution"
	ev[record.Request] = stamp.Now()
	made, err := x.d.ExecCreate(ctx, x.in, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Env: x.task.Env, Cmd: x.task.Argv})
	if err != nil {
		return err
	}
	x.id = made.ID
	x.res.Steps = append(x.res.Steps, record.Step{Name: "created", At: stamp.Now()})

	x.phase = "starting the execution"
	att, err := x.d.ExecAttach(ctx, x.id, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	x.out = follow(att.Reader, att.Conn, x.task.OutputLimit)
	x.phase = "waiting for the end of the execution"
	select {
	case <-x.out.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	x.res.Steps = append(x.res.Steps, record.Step{Name: "output ended", At: x.out.ended})
	return adapter.AwaitExec(ctx, &x.res, func() (bool, int, error) {
		seen, err := x.d.ExecInspect(ctx, x.id, client.ExecInspectOptions{})
		return seen.Running, seen.ExitCode, err
	})
}

// execFailure judges an execution by its status: 126 and 127 are the engine's
// where it says that it could not execute.
func execFailure(status int, res engine.Result) *record.Failure {
	if status == 126 || status == 127 {
		for _, text := range [][]byte{res.Stdout, res.Stderr} {
			if strings.Contains(string(text), "exec failed") {
				return &record.Failure{Class: record.EngineError, Text: adapter.Words(text)}
			}
		}
	}
	return adapter.SignalFailure(status, false)
}
