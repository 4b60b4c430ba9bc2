package enginetest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// ranksLauncher starts the command after it twice, as srun and mpirun do: with a
// number in the environment, and each rank's output in a file.
const ranksLauncher = `dir=$1; shift
for r in 0 1; do PMIX_RANK=$r "$@" >"$dir/rank.$r" 2>&1 & done
wait`

// RanksTask and RanksOf are a job of two ranks, which say in the directory out who
// they are and what they were told.
func RanksTask(kit *engine.Kit) engine.Task {
	return engine.Task{Name: "plimsoll-" + kit.RunID + "-ranks", Limit: time.Minute,
		Argv: []string{"/bin/sh", "-c", "echo rank=$PMIX_RANK $PLIMSOLL_INSIDE $PLIMSOLL_TASK"}, Env: []string{"PLIMSOLL_TASK=given"}}
}

// RanksOf is documented at RanksTask.
func RanksOf(out string) engine.Ranks {
	return engine.Ranks{Launcher: []string{"/bin/sh", "-c", ranksLauncher, "launcher", out}, Inside: []string{"PLIMSOLL_INSIDE=in"}, PerNode: 2, Nodes: 1}
}

// Ranks demands of an environment with an image that has a shell that two ranks
// run, each knows what its launcher and we have told it, and no container is left.
func Ranks(t *testing.T, kit *engine.Kit, env engine.Environment, shared bool) {
	t.Helper()
	out := t.TempDir()
	// The launcher may be an ordinary user's.
	require.Reachable(t, out)
	require.NoError(t, os.Chmod(out, 0o777)) //nolint:gosec // as said
	ranks := RanksOf(out)
	ranks.Shared = shared
	res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, RanksTask(kit))
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v: %s", err, res.Failure, res.Stderr)
	}
	for i := range 2 {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("rank.%d", i)))
		if want := fmt.Sprintf("rank=%d in given\n", i); err != nil || string(text) != want {
			t.Errorf("rank %d said %q, %v; want %q", i, text, err, want)
		}
	}
	for _, l := range kit.Ledger.Left() {
		if l.Kind == engine.KindContainer {
			t.Errorf("in the ledger: %+v", l)
		}
	}
}
