package sarus

import (
	"context"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// TestRanks: each rank is a container with a name of its own, has what the
// launcher has told it, and is gone afterwards.
func TestRanks(t *testing.T) {
	e, kit := installed(t)
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "sarus", Levels: map[string]string{engine.Image: "busybox"}})
	require.NoError(t, err)
	defer func() {
		if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	enginetest.Ranks(t, kit, env, false)
	ranks := enginetest.RanksOf(t.TempDir())
	ranks.Shared = true
	if res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, enginetest.RanksTask(kit)); err != nil || res.Failure == nil || res.Failure.Class != record.Unsupported {
		t.Errorf("ranks in one container: %+v, %v", res.Failure, err)
	}
	// A launcher that numbers nobody is told.
	ranks.Shared, ranks.Launcher = false, []string{"/usr/bin/env"}
	if res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, enginetest.RanksTask(kit)); err != nil || res.Failure == nil || !strings.Contains(res.Failure.Text+string(res.Stderr), "no number") {
		t.Errorf("without a number: %+v, %v", res.Failure, err)
	}
}
