package fake_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func stayer(word string) engine.Task {
	args := probe.PayloadArgs{Word: word, Stay: true}
	return engine.Task{Name: word, Argv: args.Argv(image.ProbePath), Limit: time.Second}
}

func hold(t *testing.T, env engine.Environment, word string) engine.Held {
	t.Helper()
	h, err := env.(engine.Holder).Hold(t.Context(), stayer(word))
	require.NoError(t, err)
	return h
}

func end(t *testing.T, h engine.Held) engine.Result {
	t.Helper()
	res, err := h.End(t.Context(), engine.Stop{Grace: time.Second})
	if err != nil || res.Failure != nil {
		t.Fatal(err, res.Failure)
	}
	return res
}

func TestHold(t *testing.T) {
	env := open(t, fake.New(), "a", "medium")
	h := hold(t, env, "w")
	out, _ := h.Output()
	if p, err := probe.ParsePayload(out, "w"); err != nil || p.Done != 0 {
		t.Errorf("while it runs: %+v, %v", p, err)
	}
	select {
	case <-h.Ended():
		t.Error("it has ended by itself")
	default:
	}
	run(t, env) // the others' time goes on
	res := end(t, h)
	<-h.Ended()
	p, err := probe.ParsePayload(res.Stdout, "w")
	if err != nil || p.Done == 0 {
		t.Errorf("at the end: %+v, %v", p, err)
	}
	last := int64(0)
	for _, e := range []record.Event{record.Request, record.Created, record.Start, record.Started, record.Ready, record.Stop, record.Exit, record.Stopped, record.Removed} {
		if res.Events[e] <= last {
			t.Errorf("%s is %d, after %d", e, res.Events[e], last)
		}
		last = res.Events[e]
	}
	if again := end(t, h); again.Events[record.Removed] != res.Events[record.Removed] {
		t.Error("the second End gives another life")
	}
}

func TestExecAndBeside(t *testing.T) {
	env := open(t, fake.New(), "a", "medium")
	h := hold(t, env, "w")
	args := probe.PayloadArgs{Word: "x"}
	task := engine.Task{Name: "x", Argv: args.Argv(image.ProbePath), Limit: time.Second}
	res, err := h.(engine.Executor).Exec(t.Context(), task)
	if err != nil || res.Failure != nil || res.Events[record.Exit] <= res.Events[record.Ready] {
		t.Error(err, res)
	}
	task.Beside = h
	if res, err := env.Run(t.Context(), task); err != nil || res.Failure != nil {
		t.Error(err, res.Failure)
	}
	end(t, h)
	if res, err := h.(engine.Executor).Exec(t.Context(), task); err != nil || res.Failure == nil {
		t.Error("a program ran in a container that has ended", err)
	}
	if res, err := env.Run(t.Context(), task); err != nil || res.Failure == nil {
		t.Error("a container is beside one that has ended", err)
	}
}

// Each container that is held makes the next one later by the model's slope.
func TestCrowd(t *testing.T) {
	env := open(t, fake.New(), "a", "crowded")
	var hs []engine.Held
	created := func(r engine.Result) float64 {
		return float64(r.Events[record.Created] - r.Events[record.Request])
	}
	alone := created(run(t, env))
	for i := range 40 {
		hs = append(hs, hold(t, env, fmt.Sprint("w", i)))
	}
	if more := created(run(t, env)) - alone; more < 15e6 || more > 25e6 {
		t.Errorf("beside 40 others it is %.1f ms later, want 20", more/1e6)
	}
	for _, h := range hs {
		end(t, h)
	}
}

func TestMemory(t *testing.T) {
	for level, leak := range map[string]int64{"medium": 0, "leaky": 1 << 20} {
		env := open(t, fake.New(), "a", level)
		foot := env.(engine.Modelled).Footprint
		before := foot()
		var hs []engine.Held
		for i := range 10 {
			hs = append(hs, hold(t, env, fmt.Sprint("w", i)))
		}
		top, m := foot(), fake.Medium().Memory
		if top.Payload != 10*m.Payload || top.Monitor != 10*m.Monitor || top.Daemon-before.Daemon != 10*(m.Grows+leak) {
			t.Errorf("%s: %+v", level, top)
		}
		for _, h := range hs {
			end(t, h)
		}
		if after := foot(); after.Daemon-before.Daemon != 10*leak || after.Payload != 0 || after.Monitor != 0 {
			t.Errorf("%s: %+v after all, %+v before", level, after, before)
		}
	}
}

func TestBounded(t *testing.T) {
	env := open(t, fake.New(), "a", "bounded")
	var hs []engine.Held
	for i := range 20 {
		hs = append(hs, hold(t, env, fmt.Sprint("w", i)))
	}
	if h, err := env.(engine.Holder).Hold(t.Context(), stayer("one-more")); err == nil {
		t.Error("there is room for one more", h)
	}
	end(t, hs[0])
	hs[0] = hold(t, env, "again")
	for _, h := range hs {
		end(t, h)
	}
}

func TestManyAtOnce(t *testing.T) {
	env := open(t, fake.New(), "a", "medium")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			h, err := env.(engine.Holder).Hold(t.Context(), stayer(fmt.Sprint("w", i)))
			if err != nil {
				t.Error(err)
				return
			}
			args := probe.PayloadArgs{Word: "x"}
			if _, err := env.Run(t.Context(), engine.Task{Name: "n", Argv: args.Argv(image.ProbePath), Limit: time.Second}); err != nil {
				t.Error(err)
			}
			if _, err := h.End(t.Context(), engine.Stop{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
