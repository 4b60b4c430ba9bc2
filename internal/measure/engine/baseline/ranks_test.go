package baseline

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestRanks: two ranks enter native's root below mpirun, which native's launcher starts,
// and below srun, whose ranks are a daemon's children in the host's mount namespace.
func TestRanks(t *testing.T) {
	kit := enginetest.Kit(t)
	spec := engine.Spec{ID: "native", Levels: map[string]string{engine.Image: "busybox"}}
	if err := engine.Refuse(Native{}.Info(), Native{}.Detect(t.Context(), kit), spec); err != nil {
		t.Skip(err)
	}
	env, err := Native{}.Open(t.Context(), kit, spec)
	require.NoError(t, err)
	defer func() {
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}()
	enginetest.Ranks(t, kit, env, false)

	nsenter, err := kit.LookPath("nsenter")
	if err != nil {
		t.Skip("without nsenter nothing leaves native's mount namespace")
	}
	srun, out := filepath.Join(kit.Dir, "srun"), t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nexec %s --target %d --mount /bin/sh \"$@\"\n", nsenter, os.Getpid())
	require.NoError(t, os.WriteFile(srun, []byte(script), 0o755)) //nolint:gosec // a program is executable
	ranks := enginetest.RanksOf(out)
	ranks.Launcher[0] = srun
	res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, enginetest.RanksTask(kit))
	if err != nil || res.Failure != nil {
		t.Fatalf("below srun: %v, %+v: %s", err, res.Failure, res.Stderr)
	}
	for i := range 2 {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("rank.%d", i)))
		if want := fmt.Sprintf("rank=%d in given\n", i); err != nil || string(text) != want {
			t.Errorf("rank %d below srun said %q, %v; want %q", i, text, err, want)
		}
	}
}
