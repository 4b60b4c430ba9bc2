package podman

import (
	"context"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// TestRanks: two ranks of root's and of an ordinary user's Podman, each in a
// container or both in one, know what they were told, and none is left.
func TestRanks(t *testing.T) {
	for _, rootless := range []string{"no", "yes"} {
		t.Run("rootless "+rootless, func(t *testing.T) {
			e, kit := New(), enginetest.Kit(t)
			levels := map[string]string{engine.Image: "busybox", engine.Rootless: rootless}
			spec := engine.Spec{ID: "podman", Levels: levels}
			if err := engine.Refuse(e.Info(), e.Detect(t.Context(), kit), spec); err != nil {
				t.Skip(err)
			}
			env, err := e.Open(t.Context(), kit, spec)
			require.NoError(t, err)
			defer func() {
				if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			}()
			enginetest.Ranks(t, kit, env, false)
			enginetest.Ranks(t, kit, env, true)
			ranks := enginetest.RanksOf(t.TempDir())
			ranks.Nodes = 2
			if res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, enginetest.RanksTask(kit)); err != nil || res.Failure == nil || res.Failure.Class != record.Unsupported {
				t.Errorf("on two nodes: %+v, %v", res.Failure, err)
			}
		})
	}
}
