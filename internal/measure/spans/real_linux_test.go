//go:build !unit

// make unit would link the engines' clients only to skip this.

package spans

import (
	"context"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/engine/cri"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// opened is an environment on a private daemon that sends its spans.
func opened(t *testing.T, e engine.Engine, levels map[string]string) (*engine.Kit, engine.Environment, *Receiver) {
	t.Helper()
	kit := enginetest.Kit(t)
	spec := engine.Spec{ID: "test", Levels: levels}
	if err := e.(engine.Spanning).Spans(t.Context(), kit, spec); err != nil {
		t.Skip("no daemon of ours sends spans here: ", err)
	}
	r, err := Listen()
	require.NoError(t, err)
	t.Cleanup(r.Close)
	kit.Spans = r.Collector()
	env, err := e.Open(t.Context(), kit, spec)
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if left := enginetest.Left(kit); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	})
	return kit, env, r
}

// TestAgrees: a real daemon's span of a call lies within what its client saw of that call,
// and is as long, but for the way there and back: in the quickest of three at least, since
// on a busy machine the way may take longer.
func TestAgrees(t *testing.T) {
	enginetest.Real(t)
	kit, env, r := opened(t, cri.New(), map[string]string{engine.Endpoint: "crio"})
	if env.Facts()[engine.TracedFact] == "" || env.Facts()["daemon"] != "private" {
		t.Errorf("the facts don't say it: %v", env.Facts())
	}
	var results []engine.Result
	for range 3 {
		res, err := env.Run(t.Context(), engine.Task{Name: adapter.Name(kit.RunID, adapter.Word()[:8]), Limit: time.Minute, Argv: []string{"/plimsoll-probe", "version"}})
		require.NoError(t, err)
		if res.Failure != nil {
			t.Fatal(*res.Failure)
		}
		results = append(results, res)
	}
	require.NoError(t, env.Close(context.Background())) // its last words
	alike := false
	for _, res := range results {
		from, to := res.Events[record.Request], res.Events[record.Sandbox]
		client := to - from
		var found *record.TraceSpan
		for _, s := range r.During(from, to) {
			if s.Name == "runtime.v1.RuntimeService/RunPodSandbox" {
				found = &s
			}
		}
		if found == nil {
			t.Fatalf("no span of RunPodSandbox among %+v", r.During(from, to))
		}
		slack := r.ClockError() + int64(time.Millisecond)/10
		t.Logf("the client saw %d µs, the span is %d µs long and begins %d µs after the request", client/1000, (found.To-found.From)/1000, found.From/1000)
		if found.From < -slack || found.To > client+slack {
			t.Errorf("from %d to %d ns, and the client waited until %d; the clocks may be wrong by %d", found.From, found.To, client, r.ClockError())
		}
		alike = alike || client-(found.To-found.From) <= max(client/10, int64(5*time.Millisecond))
	}
	if !alike {
		t.Error("each span is shorter than what its client saw by more than a tenth and 5 ms")
	}
}

// TestContainerd likewise, where this containerd has what sends spans.
func TestContainerd(t *testing.T) {
	enginetest.Real(t)
	kit, env, r := opened(t, containerd.New(), nil)
	res, err := env.Run(t.Context(), engine.Task{Name: adapter.Name(kit.RunID, adapter.Word()[:8]), Limit: time.Minute, Argv: []string{"/plimsoll-probe", "version"}})
	require.NoError(t, err)
	require.NoError(t, env.Close(context.Background()))
	if got := r.During(res.Events[record.Request], res.Events[record.Exit]); len(got) == 0 {
		t.Error("no span came")
	} else {
		t.Logf("%d spans, the first of %s", len(got), got[0].Name)
	}
}
