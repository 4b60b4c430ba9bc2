package oci

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// TestKilled: what is left of a container, when Plimsoll and its launcher have
// been killed, is removed from the ledger alone, with each runtime and wherever
// its life was cut off: while it runs, where only its control groups are left,
// and where the runtime is gone.
func TestKilled(t *testing.T) {
	for _, runtime := range names() {
		t.Run(runtime, func(t *testing.T) {
			t.Parallel()
			for what, cut := range map[string]func(t *testing.T, e *environment, name string){
				"runs":       func(*testing.T, *environment, string) {},
				"no state":   func(t *testing.T, e *environment, name string) { discard(t, filepath.Join(e.options.root, name)) },
				"torn state": tear,
			} {
				t.Run(what, func(t *testing.T) {
					kit := enginetest.Kit(t)
					env, err := New().Open(t.Context(), kit, engine.Spec{ID: "killed", Levels: map[string]string{engine.Runtime: runtime}})
					if err != nil {
						t.Skipf("can't be had here: %v", err)
					}
					defer func() {
						if err := env.Close(context.Background()); err != nil {
							t.Error(err)
						}
					}()
					e := env.(*environment)
					args := probe.PayloadArgs{Word: adapter.Word(), Stay: true, OnTerm: "ignore"}
					task := engine.Task{Name: adapter.Name(kit.RunID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: time.Minute}
					if _, err := e.Hold(t.Context(), task); err != nil {
						t.Fatal(err)
					}
					cut(t, e, task.Name)
					later := *kit
					later.LookPath = func(string) (string, error) { return "", errors.New("not on the PATH") }
					removed, kept := engine.Sweep(t.Context(), &later, New())
					if len(removed) != 1 || removed[0] != e.thing(task.Name) || len(kept) > 0 {
						t.Errorf("removed %v, kept %v", removed, kept)
					}
					if left, err := New().Bearing(t.Context(), kit, kit.RunID); err != nil || len(left) > 0 {
						t.Errorf("still there: %v, %v", left, err)
					}
					if left := enginetest.Left(kit); len(left) > 0 {
						t.Errorf("left behind: %v", left)
					}
					if pid := adapter.FindProcess(task.Argv); pid != 0 {
						t.Errorf("the payload still runs (process %d)", pid)
					}
				})
			}
		})
	}
}

// discard takes a state away.
func discard(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(path))
}

// tear leaves what a runtime can't read.
func tear(t *testing.T, e *environment, name string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(e.options.root, name, "*"))
	files = append(files, filepath.Join(e.options.root, name+"_sandbox:"+name+".state"))
	for _, f := range files {
		if fi, err := os.Lstat(f); err == nil && fi.Mode().IsRegular() {
			require.NoError(t, os.Truncate(f, 0))
		}
	}
}

// TestAnothersGroup: a control group of just our container's name is not ours.
func TestAnothersGroup(t *testing.T) {
	kit := enginetest.Kit(t)
	env, err := New().Open(t.Context(), kit, engine.Spec{ID: "group"})
	if err != nil {
		t.Skipf("can't be had here: %v", err)
	}
	defer func() {
		if err := env.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	name := adapter.Name(kit.RunID, "group")
	theirs := groupOf(t, name)
	res, err := env.Run(t.Context(), engine.Task{Name: name, Argv: []string{image.ProbePath}, Limit: time.Minute})
	if err != nil || res.Failure == nil || !strings.Contains(res.Failure.Text, theirs) {
		t.Errorf("%v, %+v, expected a word of %s", err, res.Failure, theirs)
	}
	if removed, kept := engine.Sweep(t.Context(), kit, New()); len(removed)+len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}
}

// groupOf makes a group where runtimes make theirs.
func groupOf(t *testing.T, name string) string {
	t.Helper()
	c, err := cgroup.New(&engine.Kit{RunID: "ocigroup", Ledger: &kittest.Ledger{}}, name, engine.Limits{MemoryBytes: 1 << 28})
	if err != nil || len(c.Procs()) == 0 {
		t.Skipf("no cgroup can be made here: %v", err)
	}
	path := filepath.Join(filepath.Dir(filepath.Dir(c.Procs()[0])), name)
	require.NoError(t, c.Remove(t.Context()))
	require.NoError(t, os.Mkdir(path, 0o755))
	t.Cleanup(func() {
		if err := os.Remove(path); err != nil {
			t.Error(fmt.Errorf("the group that was to stay: %w", err))
		}
	})
	return path
}

// TestBearingOwnFiles: what a runtime keeps for itself beside its containers' states is not a
// container: crun 1.28 has .empty-directory there.
func TestBearingOwnFiles(t *testing.T) {
	t.Parallel()
	kit := kittest.Bare(t)
	crun := programNamed("crun")
	require.NoError(t, os.MkdirAll(filepath.Join(crun.root(kit), ".empty-directory"), 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(crun.root(kit), "plimsoll-t1"), 0o700))
	left, err := New().Bearing(t.Context(), kit, kit.RunID)
	require.NoError(t, err)
	if len(left) != 1 || left[0].Name != "plimsoll-t1" {
		t.Errorf("of one container and a directory of crun's, found are %v", left)
	}
}
