package lxd

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
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

// both are the engines of this folder.
var both = map[string]func() *Engine{"lxd": New, "incus": NewIncus}

// usable skips where the daemon is not there.
func usable(t *testing.T, e *Engine, kit *engine.Kit) {
	t.Helper()
	if d := e.Detect(t.Context(), kit); !d.Usable {
		t.Skipf("not usable here: %s (try: %s)", d.Reason, d.Fix)
	}
}

func open(t *testing.T, e *Engine, kit *engine.Kit, levels map[string]string) *environment {
	t.Helper()
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "fault", Levels: levels})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return env.(*environment)
}

func newTask(args *probe.PayloadArgs) engine.Task {
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name("fault", args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 20 * time.Second}
}

// create makes a container: with the label of ours it is one that a kill has
// left, without it is somebody else's, though it has our profile.
func create(t *testing.T, env *environment, name string, label map[string]string) {
	t.Helper()
	err := env.d.call(t.Context(), http.MethodPost, "/1.0/instances", map[string]any{
		"name": name, "type": "container", "profiles": []string{profileName(env.spec)}, "config": label,
		"source": map[string]string{"type": "image", "fingerprint": env.image},
	})
	if err == nil {
		err = env.d.call(t.Context(), http.MethodPut, "/1.0/instances/"+name+"/state", map[string]any{"action": "start"})
	}
	require.NoError(t, err)
}

// TestEvents: a system container's own events are there, in order, and its
// image can be handed over in one piece too.
func TestEvents(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			e.unified = true
			env := open(t, e, kit, map[string]string{engine.Network: "none"})
			var args probe.PayloadArgs
			res, err := env.Run(t.Context(), newTask(&args))
			if err != nil || res.Failure != nil {
				t.Fatalf("%v, %+v", err, res.Failure)
			}
			said, err := probe.ParsePayload(res.Stdout, args.Word)
			require.NoError(t, err)
			res.Events[record.First] = said.First
			at := int64(0)
			// Init is not among these: the daemon says that an instance has
			// started before its init has come to its first instruction, so
			// that the request to execute may be sooner than that.
			if init := res.Events[record.Init]; init <= res.Events[record.Start] || init >= res.Events[record.Removed] {
				t.Errorf("init is missing or out of order: %v", res.Events)
			}
			for _, ev := range []record.Event{record.Request, record.Created, record.Start, record.Exec, record.First, record.Ready, record.Exit, record.Removed} {
				if res.Events[ev] <= at {
					t.Errorf("%s is missing or out of order: %v", ev, res.Events)
				}
				at = res.Events[ev]
			}
			sizes, err := env.Sizes(t.Context(), "")
			if err != nil || sizes.Printed <= 0 || sizes.Unpacked <= 0 || sizes.Disk <= 0 {
				t.Errorf("sizes %+v, %v", sizes, err)
			}
			t.Logf("sizes %+v", sizes)
			if _, err := env.Sizes(t.Context(), "no-such"); err == nil {
				t.Error("an image that is not there has a size")
			}
		})
	}
}

// TestFaults: what goes wrong in a trial has its class, and the next one works.
func TestFaults(t *testing.T) {
	for name, make := range both {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kit, e := enginetest.Kit(t), make()
			usable(t, e, kit)
			env := open(t, e, kit, map[string]string{engine.Network: "none"})
			run := func(what string, task engine.Task, want record.Class) {
				t.Helper()
				res, err := env.Run(t.Context(), task)
				if err != nil || res.Failure == nil || res.Failure.Class != want {
					t.Errorf("%s: %v, failure %+v, want class %s", what, err, res.Failure, want)
				}
				t.Logf("%s: %+v", what, res.Failure)
			}
			var args probe.PayloadArgs
			task := newTask(&args)
			task.Argv = []string{"/no/such/program"}
			run("a program that is not there", task, record.EngineError)

			// Somebody else has a container of this name, and keeps it.
			task = newTask(&args)
			create(t, env, task.Name, nil)
			run("a name that is taken", task, record.EngineError)
			if err := env.d.get(t.Context(), "/1.0/instances/"+task.Name, &labelled{}); err != nil {
				t.Errorf("the container that had the name: %v", err)
			}
			discard(t, env, task.Name)

			// Somebody else removes the image between two trials.
			require.NoError(t, env.d.removeImage(t.Context(), env.alias))
			run("an image that is not there any more", newTask(&args), record.Unavailable)
			if left := leftIn(kit, engine.KindContainer); len(left) > 0 {
				t.Errorf("in the ledger still: %v", left)
			}
		})
	}
}

func leftIn(kit *engine.Kit, kind string) []engine.Thing {
	return engine.OfKind(kit.Ledger.Left(), kind)
}

// discard takes a container away that is not ours.
func discard(t *testing.T, env *environment, name string) {
	t.Helper()
	at := "/1.0/instances/" + name
	err := errors.Join(env.d.call(t.Context(), http.MethodPut, at+"/state", forceStop), env.d.call(t.Context(), http.MethodDelete, at, nil))
	if err != nil {
		t.Error(err)
	}
}

// TestNoDaemon: a socket where nobody answers, and none at all.
func TestNoDaemon(t *testing.T) {
	kit := enginetest.Kit(t)
	dead := filepath.Join(t.TempDir(), "unix.socket")
	for what, prepare := range map[string]func() error{
		"no socket":             func() error { return nil },
		"nobody answers at one": func() error { return os.WriteFile(dead, nil, 0o600) },
	} {
		require.NoError(t, prepare())
		kit.Getenv = func(name string) string {
			if name == "LXD_SOCKET" {
				return dead
			}
			return os.Getenv(name)
		}
		if d := New().Detect(t.Context(), kit); d.Usable || d.Reason == "" || d.Fix == "" {
			t.Errorf("%s: %+v", what, d)
		}
		_, err := New().Open(t.Context(), kit, engine.Spec{ID: "dead"})
		var e *engine.Error
		if !errors.As(err, &e) || e.Class != record.Unavailable {
			t.Errorf("%s: Open: %v, want class %s", what, err, record.Unavailable)
		}
	}
}
