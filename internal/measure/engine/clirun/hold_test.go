package clirun_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// base is an environment of plain processes.
func base(t *testing.T) (*clirun.Base, *engine.Kit) {
	t.Helper()
	kit := kittest.Bare(t)
	b, err := clirun.NewBase(t.Context(), kit, engine.Spec{ID: "plain"}, false)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := b.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b, kit
}

func plan(kit *engine.Kit, args probe.PayloadArgs) clirun.Plan {
	argv := args.Argv(kit.ProbePath)
	return clirun.Attached(engine.Task{Name: args.Word, Argv: argv, Limit: 30 * time.Second}, probe.Command{Argv: argv})
}

func TestHold(t *testing.T) {
	b, kit := base(t)
	for onTerm, want := range map[string]int{"exit": 0, "ignore": 137} {
		args := probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: onTerm}
		over := 0
		h, err := b.Hold(t.Context(), clirun.Holding{Plan: plan(kit, args), After: func(context.Context, *engine.Result) { over++ }})
		require.NoError(t, err)
		if out, _ := h.Output(); h.Place().PID == 0 || h.Place().Address != "127.0.0.1" || !h.Place().Background {
			t.Errorf("place %+v, output %q", h.Place(), out)
		} else if _, err := probe.ParsePayload(out, args.Word); err != nil {
			t.Error(err)
		}
		res, err := h.End(t.Context(), engine.Stop{Grace: 200 * time.Millisecond})
		if err != nil || res.Failure != nil || res.Exit == nil || *res.Exit != want {
			t.Fatalf("%v, %+v, %+v", err, res.Failure, res)
		}
		last := int64(0)
		for _, e := range []record.Event{record.Request, record.Ready, record.Stop, record.Exit, record.Removed} {
			if res.Events[e] == 0 || res.Events[e] < last {
				t.Errorf("%s is at %d, after %d", e, res.Events[e], last)
			}
			last = res.Events[e]
		}
		if again, err := h.End(t.Context(), engine.Stop{}); err != nil || again.Events[record.Exit] != res.Events[record.Exit] || over != 1 {
			t.Errorf("for the second time: %v, %+v, cleared %d times", err, again, over)
		}
	}
}

func TestHoldOfWhatEnds(t *testing.T) {
	b, kit := base(t)
	args := probe.PayloadArgs{Word: adapter.Word(), Exit: 7}
	h, err := b.Hold(t.Context(), clirun.Holding{Plan: plan(kit, args)})
	require.NoError(t, err)
	select {
	case <-h.Ended():
	case <-time.After(30 * time.Second):
		t.Fatal("nobody told of the end")
	}
	res, err := h.End(t.Context(), engine.Stop{Grace: time.Second})
	if err != nil || res.Failure != nil || *res.Exit != 7 || res.Events[record.Stop] != 0 {
		t.Errorf("%v, %+v", err, res)
	}
}

func TestHoldOfNothing(t *testing.T) {
	b, kit := base(t)
	p := plan(kit, probe.PayloadArgs{Word: "w"})
	p.Steps[0].Cmd.Argv = []string{"/no/such/program"}
	_, err := b.Hold(t.Context(), clirun.Holding{Plan: p})
	var e *engine.Error
	if !errors.As(err, &e) || e.Class != record.Unavailable {
		t.Errorf("a program that is not there: %v", err)
	}
	p = plan(kit, probe.PayloadArgs{Word: "w"})
	p.Task.Limit = 100 * time.Millisecond
	p.Steps[0].Cmd.Argv = []string{"/bin/sleep", "1000"}
	if _, err = b.Hold(t.Context(), clirun.Holding{Plan: p}); !errors.As(err, &e) || e.Class != record.TimeOut {
		t.Errorf("a payload that says nothing: %v", err)
	}
	p.Task.Limit = 30 * time.Second // it must end by itself
	p.Steps[0].Cmd.Argv = []string{"/bin/true"}
	if _, err = b.Hold(t.Context(), clirun.Holding{Plan: p}); !errors.As(err, &e) || e.Class != record.NoProof {
		t.Errorf("a payload that ends without a word: %v", err)
	}
}

// Runs and held containers at once have launchers of their own.
func TestManyAtOnce(t *testing.T) {
	b, kit := base(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			h, err := b.Hold(t.Context(), clirun.Holding{Plan: plan(kit, probe.PayloadArgs{Word: fmt.Sprint("held", i), Stay: true})})
			if err != nil {
				t.Error(err)
				return
			}
			res, err := b.Run(t.Context(), plan(kit, probe.PayloadArgs{Word: fmt.Sprint("run", i), Exit: i}))
			if err != nil || res.Failure != nil || *res.Exit != i {
				t.Errorf("%v, %+v", err, res)
			}
			if res, err = h.End(t.Context(), engine.Stop{Grace: time.Second}); err != nil || res.Failure != nil {
				t.Errorf("%v, %+v", err, res.Failure)
			}
		})
	}
	wg.Wait()
}

// Close ends what is held.
func TestCloseHolding(t *testing.T) {
	b, kit := base(t)
	h, err := b.Hold(t.Context(), clirun.Holding{Plan: plan(kit, probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: "ignore"})})
	require.NoError(t, err)
	if err := b.Close(t.Context()); err != nil {
		t.Error(err)
	}
	<-h.Ended()
	if pid := adapter.FindProcess(h.Task().Argv); pid != 0 {
		t.Errorf("process %d still runs", pid)
	}
	if res, err := h.End(t.Context(), engine.Stop{}); err == nil && res.Failure == nil {
		t.Error("its launcher was closed, and it ended well")
	}
}
