package podman

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Exec is documented in engine.Executor: podman-remote's order, which is to
// create, to start with an attachment, to read to the end, and to ask for the
// status.
func (h *heldAPI) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	x := &restExec{r: h.env.rest, in: h.containerName(), task: task,
		stdout: stamp.NewStream(task.OutputLimit), stderr: stamp.NewStream(task.OutputLimit)}
	x.res.Events = make(map[record.Event]int64, 3)
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()

	restore := stamp.Quiet()
	err := x.live(ctx)
	restore()

	if err != nil {
		x.res.Failure = &record.Failure{Class: restClass(err), Text: x.phase + ": " + err.Error() + h.env.lost()}
		if ctx.Err() != nil {
			x.res.Failure = &record.Failure{Class: record.TimeOut,
				Text: fmt.Sprintf("did not end within %v and was killed, while %s", task.Limit, x.phase)}
			adapter.KillInside(h.place.PID, task.Argv)
		}
	}
	if x.done != nil {
		<-x.done
	}
	x.res.Stdout, x.res.Stderr = x.stdout.Kept(), x.stderr.Kept()
	if at := x.stdout.First(); at != 0 {
		x.res.Events[record.Ready] = at
	}
	if x.res.Failure == nil && x.res.Exit != nil {
		x.res.Failure = execFailure(*x.res.Exit, x.res)
	}
	if caller.Err() != nil {
		return x.res, fmt.Errorf("executing in %s: %w", x.in, caller.Err())
	}
	return x.res, nil
}

// restExec is one program that is executed in a container by the service.
type restExec struct {
	r              *rest
	in             string
	task           engine.Task
	res            engine.Result
	phase          string
	stdout, stderr *stamp.Stream
	done           chan struct{}
}

func (x *restExec) live(ctx context.Context) error {
	ev := x.res.Events
	body, err := json.Marshal(map[string]any{"AttachStdout": true, "AttachStderr": true, "Env": x.task.Env, "Cmd": x.task.Argv})
	if err != nil {
		return err
	}
	x.phase = "creating the execution"
	var made struct{ ID string }
	ev[record.Request] = stamp.Now()
	if err := x.r.call(ctx, http.MethodPost, "/containers/"+x.in+"/exec", nil, body, &made); err != nil {
		return err
	}
	x.res.Steps = append(x.res.Steps, record.Step{Name: "created", At: stamp.Now()})

	x.phase = "starting the execution"
	conn, in, err := x.r.takeOver(ctx, "/exec/"+made.ID+"/start", []byte(`{"Detach":false,"Tty":false}`))
	if err != nil {
		return err
	}
	x.done = demultiplex(x.stdout, x.stderr, in)
	defer func() { _ = conn.Close() }()
	x.phase = "waiting for the end of the execution"
	select {
	case <-x.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	x.res.Steps = append(x.res.Steps, record.Step{Name: "output ended", At: stamp.Now()})
	return adapter.AwaitExec(ctx, &x.res, func() (bool, int, error) {
		var seen struct {
			Running  bool
			ExitCode int
		}
		err := x.r.call(ctx, http.MethodGet, "/exec/"+made.ID+"/json", nil, nil, &seen)
		return seen.Running, seen.ExitCode, err
	})
}

// execFailure judges an execution by its status: 126 and 127 are the engine's
// where the program said nothing.
func execFailure(status int, res engine.Result) *record.Failure {
	if (status == 126 || status == 127) && len(res.Stdout) == 0 {
		return &record.Failure{Class: record.EngineError, Text: fmt.Sprintf("podman exec: status %d: %s", status, adapter.Words(res.Stderr))}
	}
	return adapter.SignalFailure(status, false)
}
