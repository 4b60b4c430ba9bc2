package run

import (
	"context"
	"maps"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/fake"
	"plimsoll/internal/record"
)

// running is the fake engine with a runtime that it tells of when it is opened.
type running struct {
	spoiled
	runtime string
}

func (k running) Info() engine.Info {
	i := k.spoiled.Info()
	i.Untried = map[string][]string{engine.Runtime: {"kata"}}
	return i
}

func (k running) Open(ctx context.Context, kit *engine.Kit, spec engine.Spec) (engine.Environment, error) {
	env, err := k.spoiled.Open(ctx, kit, spec)
	if err != nil {
		return nil, err
	}
	return runningEnv{env, k.runtime}, nil
}

type runningEnv struct {
	engine.Environment
	runtime string
}

func (e runningEnv) Facts() map[string]string {
	facts := maps.Clone(e.Environment.Facts())
	facts["runtime"] = e.runtime
	return facts
}

// No environment here names a runtime: the one whose engine turns out to run Kata by
// default bears the mark that one bears which names it.
func TestUntriedDefaultRuntime(t *testing.T) {
	fine := func(_ context.Context, _ engine.Task, res engine.Result) (engine.Result, error) { return res, nil }
	o := options(t, 1, running{spoiled{fake.New(), "usual", 0, fine}, "runc"}, running{spoiled{fake.New(), "guest", 0, fine}, "io.containerd.kata.v2"})
	if _, err := Execute(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	r, err := record.Open(o.Dir)
	require.NoError(t, err)
	got := map[string]bool{}
	for _, e := range r.Run().Environments {
		got[e.ID] = e.Unverified
	}
	if want := map[string]bool{"usual": false, "guest": true}; !maps.Equal(got, want) {
		t.Errorf("unverified: %v, want %v", got, want)
	}
}
