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
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is one more program in a container. It is the interface's streaming
// Exec, which kubectl and crictl use: the server gives an address, where the
// streams are. ExecSync would hold all output back until the end.
type execution struct {
	apirun.Life
	in   *life
	conn *websocket.Conn
	oom  func() bool
}

func (l *life) Program(task engine.Task, _ engine.Place) (apirun.Process, *record.Failure) {
	if len(task.Env) > 0 {
		return nil, &record.Failure{Class: record.Unsupported,
			Text: "the CRI's Exec takes no environment: a program gets that of its container"}
	}
	return &execution{Life: apirun.NewLife(task), in: l, oom: cgroup.HostOOMWatch()}, nil
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

func (x *execution) Up(ctx, _ context.Context) error {
	x.Phase("executing the program")
	x.Res.Events[record.Request] = stamp.Now()
	x.Res.Events[record.Exec] = x.Res.Events[record.Request]
	r, err := x.in.s.runtime.Exec(ctx, &v1.ExecRequest{ContainerId: x.in.ctr, Cmd: x.Task.Argv, Stdout: true, Stderr: true})
	if err != nil {
		return err
	}
	x.Step("exec-granted", stamp.Now())
	x.Phase("connecting to the streams at " + r.GetUrl())
	t := &http.Transport{DisableKeepAlives: true} // the streams are on this machine: no proxy
	//nolint:bodyclose // the library has the body: it is the connection
	x.conn, _, err = websocket.Dial(ctx, r.GetUrl(), &websocket.DialOptions{HTTPClient: &http.Client{Transport: t},
		Subprotocols: []string{streamProtocol}, CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		return err
	}
	if x.conn.Subprotocol() != streamProtocol {
		return fmt.Errorf("the server does not speak %s, but %q", streamProtocol, x.conn.Subprotocol())
	}
	x.conn.SetReadLimit(-1)
	return nil
}

// Await reads the status from the last message.
func (x *execution) Await(ctx context.Context) error {
	x.Phase("waiting for the program's end")
	for {
		_, data, err := x.conn.Read(ctx)
		if err != nil {
			return err
		}
		if len(data) < 2 {
			continue // it only opens or closes a channel
		}
		switch data[0] {
		case channelStdout:
			_, _ = x.Stdout.Write(data[1:]) // a stream never fails
		case channelStderr:
			_, _ = x.Stderr.Write(data[1:])
		case channelStatus:
			x.Res.Events[record.Exit] = stamp.Now()
			n, err := exitOf(data[1:])
			x.Res.Exit = &n
			return err
		}
	}
}

func (x *execution) OOM(context.Context) bool { return x.oom() }

func (x *execution) Release(context.Context) *record.Failure {
	if x.conn != nil {
		_ = x.conn.CloseNow() // by then it has said all
	}
	return nil
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
