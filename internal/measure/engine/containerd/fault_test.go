package containerd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	coreimages "github.com/containerd/containerd/v2/core/images"
	"github.com/containerd/containerd/v2/pkg/cio"
	"github.com/containerd/containerd/v2/pkg/namespaces"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/containerdclient"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func newTask(runID string, args *probe.PayloadArgs) engine.Task {
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name(runID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 30 * time.Second}
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
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return env.(*environment)
}

// wantNothingLeft: no container, neither in containerd nor in the ledger. The
// environment is open, with its namespace.
func wantNothingLeft(t *testing.T, kit *engine.Kit) {
	t.Helper()
	bearing, err := New().Bearing(t.Context(), kit, kit.RunID)
	require.NoError(t, err)
	for _, l := range append(bearing, kit.Ledger.Left()...) {
		if l.Kind == engine.KindContainer {
			t.Errorf("left behind: %s", l)
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
				require.NoError(t, err)
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
			require.NoError(t, env.d.removeImage(t.Context(), env.settings.image.Name()))
			run("an image that is not there any more", newTask(kit.RunID, &args), record.Unavailable)
		})
	}
}

// TestGroupsLeft: crun gives up on a control group that stays busy for too long, and a
// container's removal succeeds nevertheless. The group goes with the trial; one of the
// same kind that the ledger does not name stays.
func TestGroupsLeft(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, map[string]string{engine.Runtime: "runc", engine.Network: "none"}, engine.Limits{})
	args := probe.PayloadArgs{}
	task, other := newTask(kit.RunID, &args), newTask(kit.RunID, &args)
	thing := *env.Thing(task)
	require.NoError(t, kit.Ledger.Made(thing))
	for _, name := range []string{task.Name, other.Name} {
		require.NoError(t, cgroup.MakeNamed(name))
		t.Cleanup(func() {
			there, err := cgroup.Named(name)
			require.NoError(t, errors.Join(err, cgroup.RemoveGroups(context.Background(), there)))
		})
	}
	there, err := env.Remains(t.Context(), task)
	require.NoError(t, err)
	if left, err := cgroup.Named(task.Name); there || len(left) > 0 || err != nil {
		t.Errorf("the container is there: %v; its groups: %v, %v", there, left, err)
	}
	if _, err = env.Remains(t.Context(), other); err == nil {
		t.Errorf("the group %s was not in the ledger, and was removed", other.Name)
	}
	require.NoError(t, kit.Ledger.Gone(thing))
}

// TestLeftovers: what a killed run left is found and removed, also where its
// directory is gone.
func TestLeftovers(t *testing.T) {
	for _, runtime := range []string{"runc", "runsc"} {
		t.Run(runtime, func(t *testing.T) {
			kit := enginetest.Kit(t)
			env := open(t, kit, map[string]string{engine.Runtime: runtime, engine.Network: "none"}, engine.Limits{})
			ctx := t.Context()
			args := probe.PayloadArgs{Stay: true}
			task := newTask(kit.RunID, &args)
			require.NoError(t, env.AdmitHeld(ctx, task))
			c, err := env.d.NewContainer(ctx, task.Name, env.settings.container(task, "")...)
			require.NoError(t, err)
			live, err := c.NewTask(ctx, cio.NullIO)
			require.NoError(t, err)
			require.NoError(t, live.Start(ctx))
			// A snapshot without a container: killed in the middle of create.
			key := adapter.Name(kit.RunID, "torn")
			parent, err := env.settings.image.RootFS(ctx)
			require.NoError(t, err)
			lctx, _, err := env.d.WithLease(ctx)
			require.NoError(t, err)
			if _, err := env.d.SnapshotService(env.settings.snapshotter).Prepare(lctx, key, parent[0].String()); err != nil {
				t.Fatal(err)
			}
			require.NoError(t, os.RemoveAll(filepath.Join(kit.Dir, wrapperName+"none")))

			// A user's, as like ours as they can be.
			const users = "plimsoll"
			user := namespaces.WithNamespace(ctx, users)
			had, err := env.d.NamespaceService().List(ctx)
			require.NoError(t, err)
			if !slices.Contains(had, users) { // the image makes it
				t.Cleanup(func() {
					if err := env.d.NamespaceService().Delete(context.Background(), users); err != nil {
						t.Errorf("the user's namespace %s: %v", users, err)
					}
				})
			}
			image, err := env.d.ImageService().Get(ctx, env.settings.image.Name())
			require.NoError(t, err)
			image.Labels = map[string]string{engine.Label: kit.RunID}
			if _, err := env.d.ImageService().Create(user, image); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := env.d.ImageService().Delete(namespaces.WithNamespace(context.Background(), users), image.Name, coreimages.SynchronousDelete()); err != nil {
					t.Errorf("the user's image: %v", err)
				}
			})
			like := Namespace(kit.RunID) + "-dev"
			require.NoError(t, env.d.NamespaceService().Create(ctx, like, map[string]string{"a": "user's"}))
			t.Cleanup(func() {
				if err := env.d.NamespaceService().Delete(context.Background(), like); err != nil {
					t.Errorf("the user's namespace: %v", err)
				}
			})
			if err := kit.Ledger.Made(env.d.thing(engine.KindNamespace, like)); err != nil {
				t.Fatal(err) // in the ledger, and not with our label: it was there before
			}

			after := *kit
			after.Getenv = func(string) string { return "" }
			removed, kept := engine.Sweep(ctx, &after, New())
			if len(removed) != 2 || len(kept) > 0 || len(kit.Ledger.Left()) > 0 {
				t.Errorf("removed %v, kept %v, in the ledger %v", removed, kept, kit.Ledger.Left())
			}
			bearing, err := New().Bearing(ctx, kit, kit.RunID)
			if err != nil || len(bearing) > 0 {
				t.Errorf("still there: %v, %v", bearing, err)
			}
			if _, err := env.d.ImageService().Get(user, image.Name); err != nil {
				t.Errorf("the user's image: %v", err)
			}
			for _, dir := range []string{stateRoot, containerdclient.Root(ctx, env.d.Client) + "/io.containerd.runtime.v2.task"} {
				if _, err := os.Stat(filepath.Join(dir, Namespace(kit.RunID))); !errors.Is(err, os.ErrNotExist) {
					t.Errorf("below %s there is a directory of the namespace's (%v)", dir, err)
				}
			}
			if pids := pidsWith(kit.RunID); len(pids) > 0 {
				t.Errorf("processes still run: %v", pids)
			}
		})
	}
}
