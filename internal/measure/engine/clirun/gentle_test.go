package clirun_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/clirun"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// client stands in for an engine's client: it notes its container in a file,
// which it removes when the container has ended. Told to end it hands that on;
// killed, it leaves the file.
const client = `state=$1; shift
trap 'kill -TERM $pid' TERM
: >"$state"
"$@" & pid=$!
while kill -0 $pid 2>/dev/null; do wait $pid; done
rm "$state"`

func clientPlan(kit *engine.Kit, state, onTerm string, limit time.Duration) clirun.Plan {
	argv := (&probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: onTerm}).Argv(kit.ProbePath)
	p := clirun.Attached(engine.Task{Name: "t", Argv: argv, Limit: limit},
		probe.Command{Argv: append([]string{"/bin/sh", "-c", client, "client", state}, argv...)})
	p.Gentle = 2 * time.Second // time enough for a shell on a busy machine
	return p
}

// Whatever ends a container before its time, its client gets the chance to
// clear away: where the payload ends when it is told to, and where it does not.
func TestGentleEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for programs that ignore signals: left out with -short")
	}
	b, kit := base(t)
	for _, onTerm := range []string{"exit", "ignore"} {
		t.Run("time-out, "+onTerm, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			res, err := b.Run(t.Context(), clientPlan(kit, state, onTerm, 300*time.Millisecond))
			if err != nil || res.Failure == nil || res.Failure.Class != record.TimeOut {
				t.Errorf("%v, %+v, expected a time-out", err, res.Failure)
			}
			gone(t, state)
		})
		t.Run("interrupt, "+onTerm, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(300*time.Millisecond, cancel)
			if _, err := b.Run(ctx, clientPlan(kit, state, onTerm, time.Minute)); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, expected the interrupt", err)
			}
			gone(t, state)
		})
		if onTerm == "exit" {
			continue // what is held ends by the stop itself
		}
		t.Run("held, "+onTerm, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state")
			h, err := b.Hold(t.Context(), clirun.Holding{Plan: clientPlan(kit, state, onTerm, time.Minute)})
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(100*time.Millisecond, cancel)
			if _, err := h.End(ctx, engine.Stop{Grace: time.Minute}); !errors.Is(err, context.Canceled) {
				t.Errorf("%v, expected the interrupt", err)
			}
			gone(t, state)
		})
	}
	t.Run("hold fails", func(t *testing.T) {
		state := filepath.Join(t.TempDir(), "state")
		p := clientPlan(kit, state, "exit", 300*time.Millisecond)
		p.Steps[0].Cmd.Argv = append(p.Steps[0].Cmd.Argv[:5:5], "/bin/sleep", "1000")
		var e *engine.Error
		if _, err := b.Hold(t.Context(), clirun.Holding{Plan: p}); !errors.As(err, &e) || e.Class != record.TimeOut {
			t.Errorf("%v, expected a time-out", err)
		}
		gone(t, state)
	})
}

func gone(t *testing.T, state string) {
	t.Helper()
	if _, err := os.Stat(state); err == nil {
		t.Error("the client was killed, and left its container's state")
	}
}
