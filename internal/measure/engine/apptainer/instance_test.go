package apptainer

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// The suite's held containers have the image payload, in which no instance can
// be started; those of an image with a shell are instances.
func TestInstance(t *testing.T) {
	kit := enginetest.Kit(t)
	e := New()
	if d := e.Detect(t.Context(), kit); !d.Usable {
		t.Skipf("not usable here: %s", d.Reason)
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "instance", Levels: map[string]string{
		engine.Image: "busybox", engine.Storage: "sif"}, Limits: engine.Limits{CPUs: 1, MemoryBytes: 256 << 20}})
	require.NoError(t, err)
	defer func() {
		if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if env.Facts()[engine.HeldFact] != engine.HeldByEngine {
		t.Fatalf("facts %v", env.Facts())
	}
	args := probe.PayloadArgs{Word: adapter.Word(), Stay: true}
	// A scratch directory is a tmpfs; the layer in memory is there when asked for.
	task := engine.Task{Name: adapter.Name(kit.RunID, "one"), Argv: args.Argv(image.ProbePath), Limit: 20 * time.Second,
		Own: true, Mounts: []engine.Mount{{Kind: engine.Tmpfs, Target: "/media"}}}
	h, err := env.(engine.Holder).Hold(t.Context(), task)
	require.NoError(t, err)
	if p := h.Place(); p.Background || p.PID == 0 || p.Address == "" {
		t.Errorf("place %+v", p)
	}
	if list := records(t, kit.Dir); len(list) != 1 {
		t.Errorf("instances that apptainer knows: %v", list)
	}
	res, err := h.(engine.Executor).Exec(t.Context(), engine.Task{Name: task.Name + "-exec", Limit: 20 * time.Second,
		Argv: []string{"/bin/busybox", "sh", "-c", "echo own >/work/x && cat /work/x; while read a b c d; do [ $b = /media ] && echo media is $c; done </proc/mounts; exit 7"}})
	if err != nil || res.Failure != nil || res.Exit == nil || *res.Exit != 7 {
		t.Errorf("Exec: %v, %+v, stderr %q", err, res, res.Stderr)
	}
	if out := string(res.Stdout); !strings.Contains(out, "own\n") || !strings.Contains(out, "media is tmpfs\n") {
		t.Errorf("seen inside: %q", out)
	}
	res, err = h.End(t.Context(), engine.Stop{Grace: 10 * time.Second})
	if err != nil || res.Failure != nil {
		t.Fatalf("End: %v, %+v, stderr %q", err, res.Failure, res.Stderr)
	}
	if p, err := probe.ParsePayload(res.Stdout, args.Word); err != nil || p.Done == 0 {
		t.Errorf("SIGTERM did not reach the payload: %+v, %v", p, err)
	}
	last := int64(0)
	for _, ev := range []record.Event{record.Request, record.Created, record.Start, record.Ready, record.Stop, record.Exit, record.Removed} {
		if res.Events[ev] < last || res.Events[ev] == 0 {
			t.Errorf("%s is at %d, after %d", ev, res.Events[ev], last)
		}
		last = res.Events[ev]
	}
	if res.Exit == nil || *res.Exit != 0 {
		t.Errorf("exit status %v", res.Exit)
	}
	if list := records(t, kit.Dir); len(list) != 0 {
		t.Errorf("instances that are left: %v", list)
	}
	t.Logf("created after %v, removed %v after the exit", time.Duration(res.Events[record.Created]-res.Events[record.Request]),
		time.Duration(res.Events[record.Removed]-res.Events[record.Exit]))
}

// An instance that a killed run has left is stopped from the ledger alone, by the
// program and as the user that it names.
func TestLeftInstance(t *testing.T) {
	for _, rootless := range []string{"no", "yes"} {
		t.Run("rootless="+rootless, func(t *testing.T) {
			kit := enginetest.Kit(t)
			e, spec := New(), engine.Spec{ID: "left", Levels: map[string]string{
				engine.Image: "busybox", engine.Storage: "sif", engine.Rootless: rootless}}
			if err := engine.Refuse(e.Info(), e.Detect(t.Context(), kit), spec); err != nil {
				t.Skipf("can't be had here: %v", err)
			}
			env, err := e.Open(t.Context(), kit, spec)
			require.NoError(t, err)
			defer func() {
				if err := env.Close(context.WithoutCancel(t.Context())); err != nil {
					t.Error(err)
				}
			}()
			args := probe.PayloadArgs{Word: adapter.Word(), Stay: true}
			task := engine.Task{Name: adapter.Name(kit.RunID, "left"), Argv: args.Argv(image.ProbePath), Limit: 20 * time.Second}
			if _, err := env.(engine.Holder).Hold(t.Context(), task); err != nil {
				t.Fatal(err)
			}
			thing := env.(*environment).thing(task.Name)
			later := *kit
			later.LookPath = func(string) (string, error) { return "", errors.New("not on the PATH") }
			later.User = &engine.User{Name: "somebody-else", UID: 65534, GID: 65534}
			if rootless == "yes" {
				_, kept := engine.Sweep(t.Context(), &later, New())
				if len(kept) != 1 || !strings.Contains(kept[0].Fix, thing.As) {
					t.Errorf("for another user: kept %+v", kept)
				}
				later.User = kit.User
			}
			if removed, kept := engine.Sweep(t.Context(), &later, New()); !slices.Equal(removed, []engine.Thing{thing}) || len(kept) > 0 {
				t.Errorf("removed %v, kept %v", removed, kept)
			}
			if left, err := New().Bearing(t.Context(), kit, kit.RunID); err != nil || len(left) > 0 {
				t.Errorf("still there: %v, %v", left, err)
			}
		})
	}
}

// records are what apptainer keeps of the instances of a run.
func records(t *testing.T, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "/instances/") && strings.HasSuffix(path, ".json") {
			found = append(found, path)
		}
		return err
	})
	require.NoError(t, err)
	return found
}
