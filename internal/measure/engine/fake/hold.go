package fake

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// held is a simulated container that runs.
type held struct {
	trial   *trial
	ended   chan struct{}
	touched int64

	mu   sync.Mutex
	over bool
}

func (e *environment) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("holding %s: %w", task.Name, err)
	}
	t := e.trial(task)
	defer t.clock.keep()
	if t.refuse() {
		e.been()
		return nil, &engine.Error{Class: t.res.Failure.Class, Text: "holding " + task.Name + ": " + t.res.Failure.Text}
	}
	if !e.enter(t.what.touches()) {
		return nil, &engine.Error{Class: record.EngineError,
			Text: fmt.Sprintf("holding %s: fork: resource temporarily unavailable: %d containers run (simulated)", task.Name, e.model.Most)}
	}
	t.say(t.what.begin(t, t.create()))
	h := &held{trial: t, ended: make(chan struct{}), touched: t.what.touches()}
	e.mu.Lock()
	e.holding = append(e.holding, h)
	e.mu.Unlock()
	if t.stays() && t.class != record.Crash {
		t.clock.pass(t.times[Output])
		t.mark(record.Ready)
		return h, nil
	}
	// It ends by itself, and no time passes on a virtual clock while nobody asks.
	t.end(t.what.status(), t.work(t.what.lasts(t.times[Work]), t.times[Output]))
	h.leave()
	return h, nil
}

// enter counts a held container, and says whether there is room for it.
func (e *environment) enter(touched int64) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.model.Most > 0 && e.running >= e.model.Most {
		return false
	}
	e.running++
	e.touched += touched
	return true
}

// leave says that the container has ended.
func (h *held) leave() {
	e := h.trial.env
	e.mu.Lock()
	e.running--
	e.ever++
	e.touched -= h.touched
	e.holding = slices.DeleteFunc(e.holding, func(o *held) bool { return o == h })
	e.mu.Unlock()
	h.over = true
	close(h.ended)
}

func (h *held) Place() engine.Place {
	return engine.Place{Address: "127.0.0.1", Background: h.trial.env.model.Attached}
}

func (h *held) Output() (stdout, stderr []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]byte(nil), h.trial.out...), nil
}

func (h *held) Ended() <-chan struct{} { return h.ended }

func (h *held) End(_ context.Context, stop engine.Stop) (engine.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.over {
		return h.trial.res, nil
	}
	t := h.trial
	e := t.env
	t.clock = e.clock() // the others have gone on meanwhile
	defer t.clock.keep()
	t.times[Remove] = t.removal + e.crowd(-1)
	status, done := t.stop(stop)
	t.end(status, done)
	h.leave()
	return t.res, nil
}

func (e *environment) Close(ctx context.Context) error {
	e.mu.Lock()
	forgotten := slices.Clone(e.holding)
	e.mu.Unlock()
	for _, h := range forgotten {
		_, _ = h.End(ctx, engine.Stop{}) // it has no error
		h.trial.fail(record.HarnessError, "its holder has not ended it (simulated)")
	}
	return nil
}

func (h *held) Exec(ctx context.Context, task engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, fmt.Errorf("executing %s: %w", task.Name, err)
	}
	e := h.trial.env
	t := e.trial(task)
	defer t.clock.keep()
	h.mu.Lock()
	over := h.over
	h.mu.Unlock()
	switch {
	case t.refuse():
	case over:
		t.mark(record.Request)
		t.fail(record.EngineError, "the container does not run (simulated)")
	case t.stays():
		t.mark(record.Request)
		t.clock.pass(task.Limit)
		t.fail(record.TimeOut, "did not end within %v and was killed (simulated)", task.Limit)
	default:
		t.exec()
	}
	return t.res, nil
}

// exec is a program's life in a container that is there already.
func (t *trial) exec() {
	t.mark(record.Request)
	t.clock.pass(t.times[Boot])
	t.say(t.what.begin(t, t.clock.stamp()))
	done := t.work(t.what.lasts(t.times[Work]), t.times[Output])
	t.clock.pass(t.times[End])
	t.mark(record.Exit)
	t.say(t.what.finish(t, done))
	t.res.Stdout = t.out
	status := t.what.status()
	t.res.Exit = &status
}

func (e *environment) Daemons(context.Context) ([]string, []int) { return nil, nil }

func (e *environment) Footprint() engine.Footprint {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, n := e.model.Memory, int64(e.running)
	return engine.Footprint{Payload: n*m.Payload + e.touched, Monitor: n * m.Monitor,
		Daemon: m.Daemon + n*m.Grows + (int64(e.ever)+n)*m.Leak}
}
