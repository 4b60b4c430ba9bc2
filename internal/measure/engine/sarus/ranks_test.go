package sarus

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// ranksLauncher starts the command after it twice, as srun or mpirun do: with a
// number in the environment, and each rank's output in a file.
const ranksLauncher = `dir=$1; shift
for r in 0 1; do PMIX_RANK=$r "$@" >"$dir/rank.$r" 2>&1 & done
wait`

// TestRanks: each rank is a container with a name of its own, has what the
// launcher has told it, and is gone afterwards.
func TestRanks(t *testing.T) {
	e, kit := installed(t)
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "sarus", Levels: map[string]string{engine.Image: "busybox"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close(context.WithoutCancel(t.Context())) })
	out := t.TempDir()
	ranks := engine.Ranks{Launcher: []string{"/bin/sh", "-c", ranksLauncher, "launcher", out}, Inside: []string{"PLIMSOLL_INSIDE=in"}, PerNode: 2, Nodes: 1}
	task := engine.Task{Name: "plimsoll-" + kit.RunID + "-ranks", Limit: time.Minute,
		Argv: []string{"/bin/sh", "-c", "echo rank=$PMIX_RANK $PLIMSOLL_INSIDE $PLIMSOLL_TASK"}, Env: []string{"PLIMSOLL_TASK=given"}}
	res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, task)
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v: %s", err, res.Failure, res.Stderr)
	}
	for i := range 2 {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("rank.%d", i)))
		if want := fmt.Sprintf("rank=%d in given\n", i); err != nil || string(text) != want {
			t.Errorf("rank %d said %q, %v; want %q", i, text, err, want)
		}
	}
	if left := kit.Ledger.Left(); len(left) > 0 {
		for _, l := range left {
			if l.Kind == engine.KindContainer {
				t.Errorf("in the ledger: %+v", l)
			}
		}
	}
	// Both at once would be refused if they had one name.
	ranks.Shared = true
	if res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, task); err != nil || res.Failure == nil || res.Failure.Class != record.Unsupported {
		t.Errorf("ranks in one container: %+v, %v", res.Failure, err)
	}
	// A launcher that numbers nobody is told.
	ranks.Shared, ranks.Launcher = false, []string{"/usr/bin/env"}
	if res, err := env.(engine.Parallel).RunRanks(t.Context(), ranks, task); err != nil || res.Failure == nil || !strings.Contains(res.Failure.Text+string(res.Stderr), "no number") {
		t.Errorf("without a number: %+v, %v", res.Failure, err)
	}
}
