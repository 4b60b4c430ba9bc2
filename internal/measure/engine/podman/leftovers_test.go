package podman

import (
	"context"
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
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/probe"
)

// each opens an environment as root and as an ordinary user, on their own stores.
func each(t *testing.T, test func(t *testing.T, kit *engine.Kit, env *environment)) {
	t.Helper()
	for _, rootless := range []string{"no", "yes"} {
		t.Run("rootless "+rootless, func(t *testing.T) {
			t.Parallel()
			kit := enginetest.Kit(t)
			e, spec := New(), engine.Spec{ID: "left", Levels: map[string]string{engine.Rootless: rootless, engine.Network: "none"}}
			if err := engine.Refuse(e.Info(), e.Detect(t.Context(), kit), spec); err != nil {
				t.Skip(err)
			}
			opened, err := e.Open(t.Context(), kit, spec)
			require.NoError(t, err)
			t.Cleanup(func() {
				if err := opened.Close(context.Background()); err != nil {
					t.Errorf("Close: %v", err)
				}
			})
			test(t, kit, opened.(*environment))
		})
	}
}

// users makes a container of a user's.
func users(t *testing.T, env *environment, name string, args ...string) {
	t.Helper()
	all := append([]string{"create", "--name", name, "--pull=never"}, args...)
	if _, err := env.p.output(t.Context(), append(all, "/no/program")...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := env.p.output(context.Background(), "rm", "--force", "--ignore", name); err != nil {
			t.Error(err)
		}
	})
}

// TestSomebodyElses: what looks just like ours and is not in the ledger, or has
// not our label, stays, and so does an image that somebody's container is made
// of; a trial under a name that is taken leaves that container alone.
func TestSomebodyElses(t *testing.T) {
	each(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		p, ctx := env.p, t.Context()
		// An image of its own: other runs may have a tag on the environment's.
		own, web, base := "localhost/plimsoll/own:"+kit.RunID, "localhost/plimsoll/web:"+kit.RunID, "base-"+kit.RunID
		users(t, env, base, env.settings.image)
		for _, tag := range []string{own, web} {
			if _, err := p.output(ctx, "commit", "--quiet", "--message", tag, "--format", "docker", base, tag); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _, _ = p.output(context.Background(), "rmi", tag) })
		}
		if _, err := p.output(ctx, "rm", base); err != nil {
			t.Fatal(err)
		}
		require.NoError(t, kit.Ledger.Made(p.thing(engine.KindImage, own)))
		taken, like, using := adapter.Name(kit.RunID, "1"), adapter.Name(kit.RunID, "2"), "using-"+kit.RunID
		users(t, env, taken, "--label", "plimsoll="+kit.RunID, web)
		users(t, env, like, "--label", engine.Label+"="+kit.RunID, web)
		users(t, env, using, own)

		var args probe.PayloadArgs
		task := newTask(&args)
		task.Name = taken
		res, err := env.Run(ctx, task)
		if err != nil || res.Failure == nil {
			t.Errorf("under a name that is taken: %v, %+v", err, res.Failure)
		}

		after := *kit
		after.LookPath = func(name string) (string, error) {
			if name == "podman" {
				return "", os.ErrNotExist
			}
			return kit.LookPath(name)
		}
		require.NoError(t, kit.Ledger.Made(p.thing(engine.KindContainer, taken)))
		removed, kept := engine.Sweep(ctx, &after, New())
		if len(removed) != 1 || removed[0].Name != env.settings.image || len(kept) != 1 || kept[0].Name != own || kept[0].Fix == "" {
			t.Errorf("removed %v, kept %+v", removed, kept)
		}
		for _, name := range []string{taken, like, using} {
			if there, err := p.known(ctx, "container", name); err != nil || !there {
				t.Errorf("the user's container %s is gone (%v)", name, err)
			}
		}
		for _, tag := range []string{own, web} {
			if there, err := p.known(ctx, "image", tag); err != nil || !there {
				t.Errorf("the image %s is gone (%v)", tag, err)
			}
		}
		var bears []string
		bearing, err := New().Bearing(ctx, kit, kit.RunID)
		for _, b := range bearing {
			bears = append(bears, b.Name)
		}
		slices.Sort(bears)
		if want := []string{own, web, like}; err != nil || !slices.Equal(bears, want) {
			t.Errorf("what bears the run's id is %q (%v), want %q", bears, err, want)
		}
		if _, err := p.output(ctx, "rm", using); err != nil {
			t.Fatal(err)
		}
		_, kept = engine.Sweep(ctx, &after, New())
		if left := engine.Of(kit.Ledger.Left(), "podman"); len(kept)+len(left) > 0 { // the environment is open still, with its groups
			t.Errorf("when the container is gone: kept %+v, ledger %v", kept, left)
		}
	})
}

// TestHangs: a podman that does not come back is told of, and stays in the
// ledger with what it was to remove.
func TestHangs(t *testing.T) {
	kit := enginetest.Kit(t)
	if !kit.Root {
		t.Skip("the test's podman plays root's")
	}
	program := filepath.Join(t.TempDir(), "podman")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 100\n"), 0o700))
	things := []engine.Thing{{Kind: engine.KindContainer, Name: adapter.Name(kit.RunID, "1"), Engine: Name, At: program},
		{Kind: engine.KindImage, Name: "localhost/plimsoll/payload:" + kit.RunID, Engine: Name, At: program}}
	kit.Ledger = &kittest.Ledger{}
	for _, thing := range things {
		require.NoError(t, kit.Ledger.Made(thing))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	removed, kept := engine.Sweep(ctx, kit, New())
	if len(removed) > 0 || len(kept) != len(things) || len(kit.Ledger.Left()) != len(things) {
		t.Errorf("removed %v, kept %+v", removed, kept)
	}
	for _, k := range kept {
		if !strings.Contains(k.Why, "hung") {
			t.Errorf("%s: %q", k.Thing, k.Why)
		}
	}
}
