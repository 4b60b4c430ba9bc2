package containerd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/pkg/cio"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/enginetest"
	"plimsoll/internal/image"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

func newTask(runID string, args *probe.PayloadArgs) engine.Task {
	args.Word = clirun.Word()
	return engine.Task{Name: clirun.Name(runID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 30 * time.Second}
}

// open opens an environment for a test, or skips with the reason.
func open(t *testing.T, kit *engine.Kit, levels map[string]string, limits engine.Limits) *environment {
	t.Helper()
	e := New()
	det := e.Detect(t.Context(), kit)
	if !det.Usable {
		t.Skipf("containerd is not usable here: %s (try: %s)", det.Reason, det.Fix)
	}
	for factor, name := range levels {
		for _, l := range det.Levels[factor] {
			if l.Name == name && !l.Usable {
				t.Skip(l.Reason)
			}
		}
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "faults", Limits: limits, Levels: levels})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return env.(*environment)
}

func wantNothingLeft(t *testing.T, kit *engine.Kit) {
	t.Helper()
	left, err := New().Leftovers(t.Context(), kit, kit.RunID)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range left {
		if l.Kind != "image" && l.Kind != "link" { // the environment's, which is open
			t.Errorf("left behind: %s %s", l.Kind, l.Name)
		}
	}
}

// TestFaults are faults within one's own containers.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ client, runtime string }{{byAPI, "runc"}, {byAPI, "crun"}, {byCLI, "runc"}} {
		t.Run(c.client+" "+c.runtime, func(t *testing.T) {
			kit := enginetest.Kit(t)
			env := open(t, kit, map[string]string{engine.Client: c.client, engine.Runtime: c.runtime, engine.Image: "busybox"},
				engine.Limits{MemoryBytes: 64 << 20})
			run := func(what string, task engine.Task, class record.Class, words ...string) {
				t.Helper()
				res, err := env.Run(t.Context(), task)
				if err != nil {
					t.Fatal(err)
				}
				if res.Failure == nil || res.Failure.Class != class {
					t.Fatalf("%s: failure %+v, want class %s", what, res.Failure, class)
				}
				t.Logf("%s: %s", what, res.Failure.Text)
				for _, w := range words {
					if !strings.Contains(res.Failure.Text, w) {
						t.Errorf("%s: %q does not say %q", what, res.Failure.Text, w)
					}
				}
				wantNothingLeft(t, kit)
			}
			var args probe.PayloadArgs
			task := newTask(kit.RunID, &args)
			task.Argv = []string{"/bin/busybox", "dd", "if=/dev/zero", "of=/dev/null", "bs=200M", "count=1"}
			run("more memory than allowed", task, record.OutOfMemory)

			task = newTask(kit.RunID, &args)
			task.Argv = []string{"/bin/busybox", "sh", "-c", "/bin/busybox sh -c 'kill -KILL $$'; exit 137"}
			run("a status that looks like a kill", task, record.Crash, "signal 9")

			task = newTask(kit.RunID, &args)
			task.Argv = []string{"/no/such/program"}
			run("a program that is not there", task, record.EngineError)

			// Somebody else removes the image between two trials.
			if err := env.d.removeImage(t.Context(), env.settings.image.Name()); err != nil {
				t.Fatal(err)
			}
			run("an image that is not there any more", newTask(kit.RunID, &args), record.Unavailable)
		})
	}
}

// TestLeftovers: what a killed run left is found and removed, also where its
// directory is gone.
func TestLeftovers(t *testing.T) {
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			kit := enginetest.Kit(t)
			env := open(t, kit, map[string]string{engine.Runtime: runtime, engine.Network: "none"}, engine.Limits{})
			e, ctx := New(), t.Context()
			args := probe.PayloadArgs{Stay: true}
			task := newTask(kit.RunID, &args)
			c, err := env.d.NewContainer(ctx, task.Name, env.settings.container(task, "")...)
			if err != nil {
				t.Fatal(err)
			}
			live, err := c.NewTask(ctx, cio.NullIO)
			if err != nil {
				t.Fatal(err)
			}
			if err := live.Start(ctx); err != nil {
				t.Fatal(err)
			}
			// A snapshot without a container: killed in the middle of create.
			key := clirun.Name(kit.RunID, "torn")
			parent, err := env.settings.image.RootFS(ctx)
			if err != nil {
				t.Fatal(err)
			}
			lctx, _, err := env.d.WithLease(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := env.d.SnapshotService(env.settings.snapshotter).Prepare(lctx, key, parent[0].String()); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(filepath.Join(kit.Dir, wrapperName+"none")); err != nil {
				t.Fatal(err)
			}

			if left, err := e.Leftovers(ctx, kit, "no-such-run"); err != nil || len(left) != 0 {
				t.Errorf("another run's: %v, %v", left, err)
			}
			left, err := e.Leftovers(ctx, kit, kit.RunID)
			var kinds []string
			for _, l := range left {
				kinds = append(kinds, l.Kind)
			}
			if got := strings.Join(kinds, " "); err != nil || got != "container file file image" {
				t.Fatalf("found %q %+v, %v, want a container, a snapshot, a lease and an image", got, left, err)
			}
			for _, l := range left {
				if err := l.Remove(ctx); err != nil {
					t.Errorf("removing the %s %s: %v", l.Kind, l.Name, err)
				}
			}
			if left, err := e.Leftovers(ctx, kit, kit.RunID); err != nil || len(left) != 0 {
				t.Errorf("still there: %v, %v", left, err)
			}
		})
	}
}
