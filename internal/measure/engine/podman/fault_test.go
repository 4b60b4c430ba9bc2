package podman

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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

func newTask(args *probe.PayloadArgs) engine.Task {
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name("fault000", args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 30 * time.Second}
}

func usable(t *testing.T, kit *engine.Kit) *Engine {
	t.Helper()
	e := New()
	if det := e.Detect(t.Context(), kit); !det.Usable {
		t.Skipf("podman is not usable here: %s (try: %s)", det.Reason, det.Fix)
	}
	return e
}

// TestWrongRuntime: by its name and its path this is crun.
func TestWrongRuntime(t *testing.T) {
	kit := enginetest.Kit(t)
	e := usable(t, kit)
	runc, err := exec.LookPath("runc")
	if err != nil {
		t.Skip("runc is not installed")
	}
	fake := filepath.Join(kit.Dir, "crun")
	require.NoError(t, os.Symlink(runc, fake))
	look := kit.LookPath
	kit.LookPath = func(name string) (string, error) {
		if name == "crun" {
			return fake, nil
		}
		return look(name)
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "wrong", Levels: map[string]string{engine.Runtime: "crun", engine.Network: "none"}})
	if err == nil {
		_ = env.Close(t.Context())
	}
	var got *engine.Error
	if !errors.As(err, &got) || got.Class != record.WrongComponent || !strings.Contains(got.Text, "runc") {
		t.Fatalf("runc under the name of crun: %v, want class %s", err, record.WrongComponent)
	}
}

// TestFaults are faults within one's own containers, and leftovers.
func TestFaults(t *testing.T) {
	kit := enginetest.Kit(t)
	e := usable(t, kit)
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "faults", Limits: engine.Limits{MemoryBytes: 64 << 20},
		Levels: map[string]string{engine.Network: "none", engine.Image: "busybox"}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = env.Close(context.Background()) })
	run := func(argv ...string) engine.Result {
		var args probe.PayloadArgs
		task := newTask(&args)
		if len(argv) > 0 {
			task.Argv = argv
		}
		res, err := env.Run(t.Context(), task)
		require.NoError(t, err)
		return res
	}
	want := func(what string, res engine.Result, class record.Class) {
		t.Helper()
		if res.Failure == nil || res.Failure.Class != class {
			t.Errorf("%s: failure %+v, want class %s", what, res.Failure, class)
		}
	}
	want("more memory than allowed", run("/bin/busybox", "dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"), record.OutOfMemory)
	want("a program that is not there", run("/no/such/program"), record.EngineError)

	// What a killed run leaves.
	in := env.(*environment)
	args := probe.PayloadArgs{Stay: true}
	task := newTask(&args)
	if _, err := in.p.output(t.Context(), in.settings.args("run", task, "--detach")...); err != nil {
		t.Fatal(err)
	}
	made := []engine.Thing{in.p.thing(engine.KindContainer, task.Name)}
	require.NoError(t, kit.Ledger.Made(made[0]))
	other := *kit
	other.RunID = "00000000"
	if left, err := e.Leftovers(t.Context(), &other, made); err != nil || len(left) != 0 {
		t.Errorf("a container with another run's label: %v, %v", left, err)
	}
	if removed, kept := engine.Sweep(t.Context(), kit, New()); len(removed) != 2 || len(kept) > 0 {
		t.Fatalf("removed %v, kept %v, want a container and its image", removed, kept)
	}
	want("an image that is not there any more", run(), record.Unavailable)
	if bearing, err := e.Bearing(t.Context(), kit, kit.RunID); err != nil || len(bearing) > 0 {
		t.Errorf("still there: %v, %v", bearing, err)
	}
}

// TestStorage opens every storage driver in a store of ours, as root and as
// an ordinary user: the proof of Open reads the driver back.
func TestStorage(t *testing.T) {
	if testing.Short() {
		t.Skip("a store for each driver takes seconds; left out with -short")
	}
	kit := enginetest.Kit(t)
	e := usable(t, kit)
	for _, rootless := range []string{"no", "yes"} {
		for _, driver := range []string{overlay, vfs, fuseOverlay} {
			if err := possible(kit, engine.Rootless, rootless); err != nil {
				t.Log(err)
				continue
			}
			t.Run("rootless "+rootless+" "+driver, func(t *testing.T) {
				env, err := e.Open(t.Context(), kit, engine.Spec{ID: "storage", Levels: map[string]string{
					engine.Rootless: rootless, engine.Storage: driver, engine.Network: "none"}})
				var got *engine.Error
				if errors.As(err, &got) && got.Class != record.WrongComponent && got.Class != record.HarnessError {
					t.Skip(err)
				}
				require.NoError(t, err)
				in := env.(*environment)
				t.Logf("root file system %s", env.Facts()["root-fs"])
				if in.p.user != nil {
					// As though this run had brought the pause process up, so
					// that Close asks for the user's containers after the store
					// of ours has gone.
					e.pauses[in.p.user.RuntimeDir].since = 1
				}
				if err := env.Close(t.Context()); err != nil {
					t.Error(err)
				}
				for _, dir := range []string{filepath.Dir(in.p.store.root), in.p.store.run} {
					if _, err := os.Lstat(dir); err == nil {
						t.Errorf("%s is still there", dir)
					}
				}
			})
		}
	}
}

// ended: there is no such process, or nobody has reaped it yet.
func ended(pid int) bool {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	_, rest, _ := strings.Cut(string(data), ") ")
	return err != nil || strings.HasPrefix(rest, "Z")
}
