package podman

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/stamp"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/measure/trace"
	"plimsoll/internal/record"
)

// TestDurability asks the kernel: of what a trial starts, podman and all that it executes,
// no call that waits for the disk gets as far as the kernel, and some do otherwise.
func TestDurability(t *testing.T) {
	kit := enginetest.Kit(t)
	if !kit.Root {
		t.Skip("following what the kernel does needs root")
	}
	r, err := trace.Open(trace.Options{AllCalls: true})
	if err != nil {
		t.Skip("what the kernel does can't be followed here: ", err)
	}
	defer func() { require.NoError(t, r.Close()) }()
	for _, client := range []string{byRun, bySteps} {
		for _, without := range []string{engine.DefaultLevel, engine.Durability} {
			spec := engine.Spec{ID: "durability", Levels: map[string]string{engine.Client: client, engine.Network: "none", engine.Without: without}}
			n := syncs(t, r, kit, spec)
			t.Logf("%s without %s: %d", client, without, n)
			if (n == 0) != (without == engine.Durability) {
				t.Errorf("%s without %s: %d calls got as far as the kernel", client, without, n)
			}
		}
	}
}

// syncs counts the calls of one trial that wait for the disk.
func syncs(t *testing.T, r *trace.Recorder, kit *engine.Kit, spec engine.Spec) (n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	env, err := New().Open(ctx, kit, spec)
	if e, ok := errors.AsType[*engine.Error](err); ok && e.Class == record.Unavailable {
		t.Skip(e)
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, env.Close(context.WithoutCancel(ctx))) }()
	own := family(os.Getpid())[1:] // launchers: what we start beside the trial is not under the filter
	args := probe.PayloadArgs{Word: adapter.Word()}
	task := engine.Task{Name: adapter.Name(kit.RunID, spec.ID, args.Word[:6]), Limit: time.Minute, Argv: args.Argv(image.ProbePath)}
	seen, err := r.Record(func() (record.TraceHead, error) {
		from := stamp.Now()
		res, err := env.Run(ctx, task)
		if res.Failure != nil {
			t.Errorf("%+v: %s", res.Failure, res.Stderr)
		}
		return record.TraceHead{From: from, To: stamp.Now()}, err
	})
	require.NoError(t, err)
	if seen.Tail.Lost > 0 {
		t.Fatalf("%d events were lost", seen.Tail.Lost)
	}
	for _, e := range seen.Events {
		switch {
		case e.Kind == record.TraceFork && slices.Contains(own, e.Thread):
			own = append(own, e.Other)
		case e.Kind == record.TraceEnter && slices.Contains(own, e.Thread) && slices.Contains(waits, e.Call):
			n++
		}
	}
	if len(own) < 10 {
		t.Fatalf("only %d threads were followed", len(own))
	}
	return n
}

// waits are the calls that wait for the disk.
var waits = []int{unix.SYS_FSYNC, unix.SYS_FDATASYNC, unix.SYS_SYNC_FILE_RANGE, unix.SYS_SYNCFS, unix.SYS_SYNC, unix.SYS_MSYNC}
