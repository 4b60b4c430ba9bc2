package nspawn

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// TestKilled: what nspawn leaves when it is killed is removed from the ledger
// alone; a directory of just such a name that was there before is not ours.
func TestKilled(t *testing.T) {
	kit := enginetest.Kit(t)
	got, err := New().Open(t.Context(), kit, engine.Spec{ID: "killed"})
	if err != nil {
		t.Skipf("can't be had here: %v", err)
	}
	env := got.(*environment)
	defer func() {
		if err := env.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	task := func() engine.Task {
		args := probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: "ignore"}
		return engine.Task{Name: adapter.Name(kit.RunID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: time.Minute}
	}
	theirs := task()
	dir := filepath.Join(runDir, "propagate", theirs.Name)
	require.NoError(t, os.MkdirAll(dir, 0o700))
	defer func() {
		if err := os.Remove(dir); err != nil {
			t.Errorf("the directory that was to stay: %v", err)
		}
	}()
	if _, err := env.Hold(t.Context(), theirs); err == nil {
		t.Error("a container was made whose directory is somebody else's")
	}

	ours := task()
	if _, err := env.Hold(t.Context(), ours); err != nil {
		t.Fatal(err)
	}
	for pid, argv := range adapter.CommandLines() { // as the launcher, at the end of its process
		if slices.Contains(split(argv), "--machine="+ours.Name) {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
	if pid := adapter.FindProcess(ours.Argv); pid != 0 {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	removed, kept := engine.Sweep(t.Context(), kit, New())
	if want := []engine.Thing{env.thing(ours.Name), env.root.lockThing()}; !slices.Equal(removed, want) || len(kept) > 0 {
		t.Errorf("removed %v, kept %v; want removed %v", removed, kept, want)
	}
	if left := traces(ours.Name); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func split(argv []byte) []string {
	var list []string
	for len(argv) > 0 {
		i := slices.Index(argv, 0)
		if i < 0 {
			i = len(argv) - 1
		}
		list = append(list, string(argv[:i]))
		argv = argv[i+1:]
	}
	return list
}
