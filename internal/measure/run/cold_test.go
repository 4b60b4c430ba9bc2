package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// actual is the fake engine as one that is not simulated, and counts what is
// asked of it.
type actual struct {
	pulling
	asked *atomic.Int64
}

func (a actual) Info() engine.Info {
	i := a.pulling.Info()
	i.Simulated = false
	return i
}

func (a actual) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	a.asked.Add(1)
	env, err := a.Fake.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return actualEnv{pullingEnv{env, a.store}, env.(engine.Holder), a.asked}, nil
}

type actualEnv struct {
	pullingEnv
	engine.Holder
	asked *atomic.Int64
}

func (actualEnv) Facts() map[string]string { return map[string]string{"version": "1"} }

func (e actualEnv) Run(ctx context.Context, task engine.Task) (engine.Result, error) {
	e.asked.Add(1)
	return e.pullingEnv.Run(ctx, task)
}

func (e actualEnv) Hold(ctx context.Context, task engine.Task) (engine.Held, error) {
	return e.Holder.Hold(ctx, task)
}

func cold(t *testing.T, dropFile string) (Options, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	e := actual{newPulling("actual"), &asked}
	o := protocolOf(t, "  - hello\n  - exec\n  - {name: density, parameters: {count: 2}}\n  - {name: load, parameters: {rate: 1}}\n  - {name: pull, parameters: {image: payload, cache: cold}}\n",
		"  - engine: actual\n  - engine: fake\n", e, fake.New())
	o.Plan.Protocol.Cache, o.DropFile = cacheCold, dropFile
	return o, &asked
}

// Where caches can't be dropped, no environment that has any is opened: the
// record says that they are unavailable, and why. A simulated one has none.
func TestColdWhereCachesCantBeDropped(t *testing.T) {
	o, asked := cold(t, "/proc/sys/vm/no-such-file")
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	if len(sum.Excluded) == 0 || asked.Load() != 0 {
		t.Errorf("%d things were asked of it; excluded %+v", asked.Load(), sum.Excluded)
	}
	for _, x := range sum.Excluded {
		if x.ID != "actual" || !strings.Contains(x.Reason, "cache: cold was asked for, but the machine's caches can't be dropped: open /proc/sys/vm/no-such-file") || !strings.Contains(x.Fix, "root") {
			t.Errorf("excluded %+v", x)
		}
	}
	if got := results(t, o.Dir); len(got["actual"]) != 0 || len(got["fake"]) == 0 {
		t.Errorf("%d trials of actual, %d of fake", len(got["actual"]), len(got["fake"]))
	}
}

// Where it fails in the middle of a run, the trial has failed and is not begun,
// of whatever workload.
func TestColdThatFails(t *testing.T) {
	o, asked := cold(t, "/dev/full") // can be opened, and takes nothing
	sum, err := Execute(t.Context(), o)
	require.NoError(t, err)
	seen := map[string]bool{}
	for _, tr := range results(t, o.Dir)["actual"] {
		seen[tr.Workload] = true
		f := tr.Failure
		if f == nil || f.Class != record.Unavailable || !strings.Contains(f.Text, "caches can't be dropped") || len(tr.Events) != 0 || tr.At.IsZero() {
			t.Errorf("%s: %+v, events %v", tr.Workload, f, tr.Events)
		}
	}
	if len(seen) != 5 || sum.Failed < 5 || asked.Load() > 5 {
		t.Errorf("trials of %v; %+v; %d things asked", seen, sum, asked.Load())
	}
}

// readyEnv notes what had been dropped when it was asked whether it answers.
type readyEnv struct {
	engine.Environment
	file   string
	before []string
}

func (e *readyEnv) Ready(context.Context) *record.Failure {
	text, _ := os.ReadFile(e.file) // an empty one has nothing
	e.before = append(e.before, string(text))
	return &record.Failure{Class: record.Unavailable, Text: "gone"}
}

// An engine that is asked before a trial is asked before the caches are dropped,
// and one that does not answer has failed.
func TestColdAsksBefore(t *testing.T) {
	env := &readyEnv{file: filepath.Join(t.TempDir(), "drop")}
	require.NoError(t, os.WriteFile(env.file, nil, 0o600))
	r := &site{dropFile: env.file}
	if f := r.cool(t.Context(), env); f == nil || f.Text != "gone" || len(env.before) != 1 || env.before[0] != "" {
		t.Errorf("%+v, asked with %q", f, env.before)
	}
	if f := r.cool(t.Context(), struct{ engine.Environment }{}); f != nil {
		t.Error(f)
	}
	if text, err := os.ReadFile(env.file); err != nil || string(text) != "3\n" {
		t.Errorf("%q (%v)", text, err)
	}
}

// What can be opened for writing can be tried; else it is unavailable.
func TestCanDrop(t *testing.T) {
	if err := canDrop("/dev/null"); err != nil {
		t.Error(err)
	}
	var e *engine.Error
	if err := canDrop(t.TempDir()); !errors.As(err, &e) || e.Class != record.Unavailable {
		t.Errorf("a directory: %v", err)
	}
}
