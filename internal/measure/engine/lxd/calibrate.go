package lxd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/coder/websocket"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/apirun"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/probe"
)

// Calibrate uses the API for both clients.
func (env *environment) Calibrate(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	ctx, cancel := context.WithTimeout(ctx, task.Limit)
	defer cancel()
	d, at := env.d, "/1.0/instances/"+task.Name
	return env.Exchange(ctx, task, func() ([]probe.Exchange, error) {
		err := d.call(ctx, http.MethodPost, "/1.0/instances", map[string]any{
			"name": task.Name, "type": "container", "profiles": []string{profileName(env.spec)}, "config": d.label(),
			"source": map[string]string{"type": "image", "fingerprint": env.image},
		})
		if err == nil {
			err = d.call(ctx, http.MethodPut, at+"/state", map[string]any{"action": "start", "timeout": -1})
		}
		var xs []probe.Exchange
		if err == nil {
			xs, err = d.exchange(ctx, task, rounds)
		}
		if err != nil {
			return nil, fmt.Errorf("exchanging clocks with %s: %w", task.Name, err)
		}
		return xs, nil
	})
}

// exchange holds the rounds: a line to the payload, a line with its stamp back.
func (d *daemon) exchange(ctx context.Context, task engine.Task, rounds int) ([]probe.Exchange, error) {
	wrote := make(chan struct{}, 1)
	l := apirun.NewLife(task)
	x, err := d.exec(ctx, task.Name, &l, func() {
		select {
		case wrote <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	defer x.close()
	restore := stamp.Quiet()
	defer restore()
	lines := func(prefix string) []string {
		var found []string
		for line := range strings.Lines(string(l.Stdout.Kept())) {
			if rest, ok := strings.CutPrefix(line, prefix); ok && strings.HasSuffix(line, "\n") {
				found = append(found, strings.TrimSpace(rest))
			}
		}
		return found
	}
	await := func(prefix string, n int) ([]string, error) {
		for {
			if found := lines(prefix); len(found) >= n {
				return found, nil
			}
			select {
			case <-wrote:
			case <-l.End.Told:
				return nil, errors.New("the payload ended in the middle")
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	if _, err := await("plimsoll 1 ", 1); err != nil {
		return nil, err
	}
	var xs []probe.Exchange
	for i := range rounds {
		sent := stamp.Now()
		if err := x.stdin.Write(ctx, websocket.MessageBinary, []byte("x\n")); err != nil {
			return nil, err
		}
		said, err := await("plimsoll at ", i+1)
		if err != nil {
			return nil, err
		}
		received := stamp.Now()
		inside, err := strconv.ParseInt(said[i], 10, 64)
		if err != nil {
			return nil, err
		}
		xs = append(xs, probe.Exchange{Sent: sent, Inside: inside, Received: received})
	}
	return xs, nil
}
