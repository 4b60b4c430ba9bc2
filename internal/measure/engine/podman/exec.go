package podman

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// restExec is one program that is executed in a container by the service, in
// podman-remote's order: create, start with an attachment, read to the end, ask
// for the status.
type restExec struct {
	apirun.Life
	r      *rest
	in, id string
	body   []byte // of create
	oom    func() bool
}

func (l *restLife) Program(task engine.Task, _ engine.Place) (apirun.Process, *record.Failure) {
	body, err := json.Marshal(map[string]any{"AttachStdout": true, "AttachStderr": true, "Env": task.Env, "Cmd": task.Argv})
	if err != nil {
		return nil, &record.Failure{Class: record.HarnessError, Text: err.Error()}
	}
	return &restExec{Life: apirun.NewLife(task), r: l.env.rest, in: l.Task.Name, body: body, oom: l.env.Group.OOMWatch()}, nil
}

func (x *restExec) Up(ctx, stay context.Context) error {
	x.Phase("creating the execution")
	var made struct{ ID string }
	x.Res.Events[record.Request] = stamp.Now()
	if err := x.r.call(ctx, http.MethodPost, "/containers/"+x.in+"/exec", nil, x.body, &made); err != nil {
		return err
	}
	x.id = made.ID
	x.Step("created", stamp.Now())

	x.Phase("starting the execution")
	conn, in, err := x.r.takeOver(stay, "/exec/"+x.id+"/start", []byte(`{"Detach":false,"Tty":false}`))
	if err != nil {
		return err
	}
	x.Frames(conn, in)
	return nil
}

// Await takes 126 and 127 as the engine's status where the program printed
// nothing.
func (x *restExec) Await(ctx context.Context) error {
	err := x.AwaitStatus(ctx, func() (bool, int, error) {
		var seen struct {
			Running  bool
			ExitCode int
		}
		err := x.r.call(ctx, http.MethodGet, "/exec/"+x.id+"/json", nil, nil, &seen)
		return seen.Running, seen.ExitCode, err
	})
	if err != nil {
		return err
	}
	if n := *x.Res.Exit; (n == 126 || n == 127) && x.Stdout.First() == 0 {
		return &engine.Error{Class: record.EngineError, Text: fmt.Sprintf("podman exec: status %d: %s", n, adapter.Words(x.Stderr.Kept()))}
	}
	return nil
}

func (x *restExec) OOM(context.Context) bool { return x.oom() }
