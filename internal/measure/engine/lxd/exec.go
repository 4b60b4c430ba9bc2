package lxd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is a program that runs in a container. Its streams come over
// websockets, as they do to the users of the command line.
type execution struct {
	stdout, stderr *stamp.Stream
	stdin          *websocket.Conn
	conns          []*websocket.Conn
	streams        sync.WaitGroup
	cancel         context.CancelFunc

	ended                   // valid after gone
	gone      chan struct{} // closed when its status has come
	drained   chan struct{} // closed when both streams have ended
	drainedAt int64         // valid after that
	torn      [2]error      // valid after that: by what a stream ended but for its end
	over      chan struct{} // closed after both
}

// ended is how an execution's end came to us.
type ended struct {
	at     int64
	status int
	err    error
}

// exec starts a program. The program begins when all its streams are
// connected. Its standard input is at its end, or, with wrote, stays open;
// then wrote hears of every piece of output. It is followed until it has ended
// or close is called, also when ctx is over.
func (d *daemon) exec(ctx context.Context, name string, task engine.Task, wrote func()) (*execution, error) {
	env := map[string]string{}
	for _, kv := range task.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	id, op, err := d.begin(ctx, http.MethodPost, "/1.0/instances/"+name+"/exec", map[string]any{
		"command": task.Argv, "environment": env, "wait-for-websocket": true, "interactive": false,
	})
	if err != nil {
		return nil, err
	}
	var m struct{ Fds map[string]string }
	if err := json.Unmarshal(op.Metadata, &m); err != nil {
		return nil, err
	}
	x := &execution{gone: make(chan struct{}), drained: make(chan struct{}), over: make(chan struct{}), stdout: stamp.NewStream(task.OutputLimit), stderr: stamp.NewStream(task.OutputLimit)}
	stay, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.cancel = cancel
	for _, s := range []struct {
		fd   string
		to   io.Writer
		torn *error
	}{{"0", nil, nil}, {"2", x.stderr, &x.torn[1]}, {"1", told{x.stdout, wrote}, &x.torn[0]}} {
		//nolint:bodyclose // the library has the body: it is the connection
		c, _, err := websocket.Dial(ctx, d.address("ws", "/1.0/operations/"+id+"/websocket", "secret", m.Fds[s.fd]),
			&websocket.DialOptions{HTTPClient: d.streams, CompressionMode: websocket.CompressionDisabled})
		if err != nil {
			x.close()
			return nil, err
		}
		c.SetReadLimit(-1)
		x.conns = append(x.conns, c)
		if s.to == nil {
			x.stdin = c
			continue
		}
		x.streams.Go(func() { *s.torn = follow(stay, c, s.to) })
	}
	go func() {
		x.streams.Wait()
		x.drainedAt = stamp.Now()
		close(x.drained)
	}()
	go func() {
		op, err := d.wait(stay, id)
		x.at, x.err = stamp.Now(), err
		if err == nil {
			var m struct{ Return *int }
			if err := json.Unmarshal(op.Metadata, &m); err != nil || m.Return == nil {
				x.err = errors.New("the daemon gave no exit status of the payload")
			} else {
				x.status = *m.Return
			}
		}
		close(x.gone)
		<-x.drained
		close(x.over)
	}()
	if wrote == nil {
		// The end of input. A payload that reads none may have ended by now,
		// and its streams with it.
		_ = x.stdin.Write(ctx, websocket.MessageText, nil)
	}
	return x, nil
}

// failed says why nothing is known of an execution that is over, or not all.
func (x *execution) failed() error {
	if x.err != nil {
		return x.err
	}
	if err := cmp.Or(x.torn[0], x.torn[1]); err != nil {
		return &engine.Error{Class: record.EngineError, Text: "the connection with the payload's output broke off before its end", Err: err}
	}
	return nil
}

// close breaks the streams off. Those that have ended are closed by the other
// side already.
func (x *execution) close() {
	x.cancel()
	for _, c := range x.conns {
		_ = c.CloseNow()
	}
}
