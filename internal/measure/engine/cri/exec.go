package cri

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/coder/websocket"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// Exec is documented in engine.Executor. It is the interface's streaming Exec,
// which kubectl and crictl use: the server gives an address, where the streams
// are. ExecSync would hold all output back until the end.
func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("executing %s: %w", task.Name, err)
	}
	if len(task.Env) > 0 {
		return engine.Result{Failure: &record.Failure{Class: record.Unsupported,
			Text: "the CRI's Exec takes no environment: a program gets that of its container"}}, nil
	}
	x := &execution{life: life{s: h.l.s, settings: h.l.settings, task: task, ctr: h.l.ctr},
		stdout: stamp.NewStream(task.OutputLimit), stderr: stamp.NewStream(task.OutputLimit)}
	limit, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	restore := stamp.Quiet()
	err := x.run(limit)
	restore()
	res := x.res
	if err != nil {
		res.Failure = x.judge(limit, err)
		// Servers leave a program alone whose streams are closed.
		adapter.KillInside(h.place.PID, task.Argv)
	} else {
		res.Failure = adapter.SignalFailure(*res.Exit, false)
	}
	res.Stdout, res.Stderr = x.stdout.Kept(), x.stderr.Kept()
	if at := x.stdout.First(); at != 0 {
		res.Events[record.Ready] = at
	}
	if ctx.Err() != nil {
		return res, fmt.Errorf("executing %s: %w", task.Name, ctx.Err())
	}
	return res, nil
}

// execution is one more program in a container.
type execution struct {
	life
	stdout, stderr *stamp.Stream
}

// streamProtocol has a channel's number in front of every message, and the
// status as an object on a channel of its own.
// https://pkg.go.dev/k8s.io/apimachinery/pkg/util/remotecommand
const streamProtocol = "v4.channel.k8s.io"

// The channels.
const (
	channelStdout = 1
	channelStderr = 2
	channelStatus = 3
)

func (x *execution) run(ctx context.Context) error {
	x.res.Events = make(map[record.Event]int64, 4)
	x.phase = "executing the program"
	x.res.Events[record.Request] = stamp.Now()
	x.res.Events[record.Exec] = x.res.Events[record.Request]
	r, err := x.s.runtime.Exec(ctx, &v1.ExecRequest{ContainerId: x.ctr, Cmd: x.task.Argv, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	x.res.Steps = append(x.res.Steps, record.Step{Name: "exec-granted", At: stamp.Now()})
	x.phase = "connecting to the streams at " + r.GetUrl()
	t := &http.Transport{DisableKeepAlives: true} // the streams are on this machine: no proxy
	//nolint:bodyclose // the library has the body: it is the connection
	c, _, err := websocket.Dial(ctx, r.GetUrl(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: t},
		Subprotocols: []string{streamProtocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return err
	}
	defer func() { _ = c.CloseNow() }() // by then it has said all
	if c.Subprotocol() != streamProtocol {
		return fmt.Errorf("the server does not speak %s, but %q", streamProtocol, c.Subprotocol())
	}
	c.SetReadLimit(-1)
	x.phase = "waiting for the program's end"
	for {
		_, data, err := c.Read(ctx)
		if err != nil {
			return err
		}
		if len(data) < 2 {
			continue // it only opens or closes a channel
		}
		switch data[0] {
		case channelStdout:
			_, _ = x.stdout.Write(data[1:]) // a stream never fails
		case channelStderr:
			_, _ = x.stderr.Write(data[1:])
		case channelStatus:
			x.res.Events[record.Exit] = stamp.Now()
			n, err := exitOf(data[1:])
			x.res.Exit = &n
			return err
		}
	}
}

// exitOf reads the status with which a stream ends.
func exitOf(data []byte) (int, error) {
	var s struct {
		Status, Message, Reason string
		Details                 struct {
			Causes []struct{ Reason, Message string }
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		return 0, fmt.Errorf("reading the program's status %q: %w", data, err)
	}
	if s.Status == "Success" {
		return 0, nil
	}
	for _, c := range s.Details.Causes {
		if n, err := strconv.Atoi(c.Message); err == nil && c.Reason == "ExitCode" {
			return n, nil
		}
	}
	return 0, errors.New(s.Message)
}
