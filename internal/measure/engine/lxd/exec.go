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
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/record"
)

// execution is a program that runs in a container. Its streams come over
// websockets, as they do to the users of the command line.
type execution struct {
	stdin  *websocket.Conn
	conns  []*websocket.Conn
	cancel context.CancelFunc
}

// errTorn is an output that ended in another way than by its end.
const errTorn = "the connection with the payload's output broke off before its end"

// exec starts a task's program, and has its life told of its output and its end.
// The program begins when all its streams are connected. Its standard input is
// at its end, or, with wrote, stays open; then wrote hears of every piece of
// output. It is followed until it has ended or close is called, also when ctx is
// over.
func (d *daemon) exec(ctx context.Context, name string, l *apirun.Life, wrote func()) (*execution, error) {
	env := map[string]string{}
	for _, kv := range l.Task.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	id, op, err := d.begin(ctx, http.MethodPost, "/1.0/instances/"+name+"/exec", map[string]any{
		"command": l.Task.Argv, "environment": env, "wait-for-websocket": true, "interactive": false,
	})
	if err != nil {
		return nil, err
	}
	var m struct{ Fds map[string]string }
	if err := json.Unmarshal(op.Metadata, &m); err != nil {
		return nil, err
	}
	x := &execution{}
	stay, cancel := context.WithCancel(context.WithoutCancel(ctx))
	x.cancel = cancel
	var streams sync.WaitGroup
	var torn [2]error
	for _, s := range []struct {
		fd   string
		to   io.Writer
		torn *error
	}{{"0", nil, nil}, {"2", l.Stderr, &torn[1]}, {"1", told{l.Stdout, wrote}, &torn[0]}} {
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
		streams.Go(func() { *s.torn = follow(stay, c, s.to) })
	}
	drain := &apirun.Drain{Done: make(chan struct{})}
	l.Drain = drain
	go func() {
		defer close(drain.Done)
		streams.Wait()
		drain.At = stamp.Now()
		if err := cmp.Or(torn[0], torn[1]); err != nil {
			drain.Err = &engine.Error{Class: record.EngineError, Text: errTorn, Err: err}
		}
	}()
	l.End = apirun.NewEnd()
	go func(end *apirun.End) {
		op, err := d.wait(stay, id)
		at, status := stamp.Now(), 0
		if err == nil {
			status, err = exitStatus(op)
		}
		end.Tell(at, status, err)
	}(l.End)
	if wrote == nil {
		// The end of input. A payload that reads none may have ended by now,
		// and its streams with it.
		_ = x.stdin.Write(ctx, websocket.MessageText, nil)
	}
	return x, nil
}

// exitStatus is a program's, as the operation that executed it tells.
func exitStatus(op operation) (int, error) {
	var m struct{ Return *int }
	if err := json.Unmarshal(op.Metadata, &m); err != nil || m.Return == nil {
		return 0, errors.New("the daemon gave no exit status of the payload")
	}
	return *m.Return, nil
}

// close breaks the streams off. Those that have ended are closed by the other
// side already. Nil is no execution.
func (x *execution) close() {
	if x == nil {
		return
	}
	x.cancel()
	for _, c := range x.conns {
		_ = c.CloseNow()
	}
}

// program is one more program in a container.
type program struct {
	apirun.Life
	d  *daemon
	in string
	x  *execution
}

func (l *life) Program(task engine.Task, _ engine.Place) (apirun.Process, *record.Failure) {
	return &program{Life: apirun.NewLife(task), d: l.env.d, in: l.Task.Name}, nil
}

func (p *program) Up(ctx, _ context.Context) (err error) {
	p.Phase("executing the program")
	p.Res.Events[record.Request] = stamp.Now()
	p.Res.Events[record.Exec] = p.Res.Events[record.Request]
	p.x, err = p.d.exec(ctx, p.in, &p.Life, nil)
	return err
}

func (p *program) Release(context.Context) *record.Failure {
	p.x.close()
	return nil
}
