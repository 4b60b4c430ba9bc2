package docker

import (
	"context"
	"strings"
	"time"

	"github.com/moby/moby/client"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is one program that is executed in a container by the API, in the
// order of `docker exec`: create, start with an attachment, read to the end,
// ask for the status.
type execution struct {
	apirun.Life
	in    *life
	id    string
	began time.Time
}

func (l *life) Program(task engine.Task, _ engine.Place) (apirun.Process, *record.Failure) {
	return &execution{Life: apirun.NewLife(task), in: l, began: time.Now()}, nil
}

func (x *execution) Up(ctx, _ context.Context) error {
	x.Phase("creating the execution")
	x.Res.Events[record.Request] = stamp.Now()
	made, err := x.in.env.d.ExecCreate(ctx, x.in.id, client.ExecCreateOptions{AttachStdout: true, AttachStderr: true, Env: x.Task.Env, Cmd: x.Task.Argv})
	if err != nil {
		return err
	}
	x.id = made.ID
	x.Step("created", stamp.Now())

	x.Phase("starting the execution")
	att, err := x.in.env.d.ExecAttach(ctx, x.id, client.ExecAttachOptions{})
	if err != nil {
		return err
	}
	x.Frames(att.Conn, att.Reader)
	return nil
}

func (x *execution) Await(ctx context.Context) error {
	err := x.AwaitStatus(ctx, func() (bool, int, error) {
		seen, err := x.in.env.d.ExecInspect(ctx, x.id, client.ExecInspectOptions{})
		return seen.Running, seen.ExitCode, err
	})
	if err != nil {
		return err
	}
	return execFailed(*x.Res.Exit, x.Stdout.Kept(), x.Stderr.Kept())
}

func (x *execution) OOM(ctx context.Context) bool {
	return x.in.env.d.oomKilled(ctx, x.in.Task.Name, x.began)
}

// execFailed judges an execution by its status: 126 and 127 are the engine's
// where it says that it could not execute.
func execFailed(status int, output ...[]byte) error {
	if status == 126 || status == 127 {
		for _, text := range output {
			if strings.Contains(string(text), "exec failed") {
				return &engine.Error{Class: record.EngineError, Text: adapter.Words(text)}
			}
		}
	}
	return nil
}
