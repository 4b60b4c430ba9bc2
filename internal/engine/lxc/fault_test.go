package lxc

import (
	"context"
	"os"
	"os/exec"
	"testing"
	"time"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/enginetest"
	"plimsoll/internal/image"
	"plimsoll/internal/probe"
	"plimsoll/internal/record"
)

func open(t *testing.T, kit *engine.Kit, levels map[string]string) *environment {
	t.Helper()
	e := New()
	if d := e.Detect(t.Context(), kit); !d.Usable {
		t.Skipf("not usable here: %s (try: %s)", d.Reason, d.Fix)
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "fault", Levels: levels})
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

func newTask(kit *engine.Kit, args *probe.PayloadArgs) engine.Task {
	args.Word = clirun.Word()
	return engine.Task{Name: clirun.Name(kit.RunID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 20 * time.Second}
}

// TestEvents: a system container's own events are there, in order, and the
// image is as it was.
func TestEvents(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	before, err := image.Fingerprint(env.image)
	if err != nil {
		t.Fatal(err)
	}
	var args probe.PayloadArgs
	res, err := env.Run(t.Context(), newTask(kit, &args))
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v", err, res.Failure)
	}
	said, err := probe.ParsePayload(res.Stdout, args.Word)
	if err != nil {
		t.Fatal(err)
	}
	res.Events[record.First] = said.First
	at := int64(0)
	for _, ev := range []record.Event{record.Request, record.Start, record.Init, record.Exec, record.First, record.Ready, record.Exit, record.Removed} {
		if res.Events[ev] < at || res.Events[ev] == 0 {
			t.Errorf("%s is missing or out of order: %v", ev, res.Events)
		}
		at = res.Events[ev]
	}
	after, err := image.Fingerprint(env.image)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range before.Changes(after) {
		t.Errorf("the image, which all share: %s", c)
	}
}

// TestFaults: what goes wrong has its class and the engine's words.
func TestFaults(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	var args probe.PayloadArgs
	task := newTask(kit, &args)
	task.Argv = []string{"/no/such/program"}
	res, err := env.Run(t.Context(), task)
	if err != nil || res.Failure == nil || res.Failure.Class != record.EngineError {
		t.Errorf("a program that is not there: %v, %+v, want class %s", err, res.Failure, record.EngineError)
	}
	t.Logf("%+v", res.Failure)

	if err := os.WriteFile(env.dir+"/config", []byte("lxc.no.such = key\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err = env.Run(t.Context(), newTask(kit, &args))
	if err != nil || res.Failure == nil || res.Failure.Class != record.EngineError {
		t.Errorf("a configuration that is broken: %v, %+v, want class %s", err, res.Failure, record.EngineError)
	}
	t.Logf("%+v", res.Failure)
}

// TestLeftovers: a container that a killed run left is found and removed.
func TestLeftovers(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	name := clirun.Name(kit.RunID, "left")
	if err := env.make(name); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), env.programs["lxc-start"], append(env.own(name), "-d")...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if left, err := New().Leftovers(t.Context(), kit, "no-such"); err != nil || len(left) != 0 {
		t.Errorf("another run's: %v, %v", left, err)
	}
	left, err := New().Leftovers(t.Context(), kit, kit.RunID)
	if err != nil || len(left) != 1 || left[0].Name != name {
		t.Fatalf("found %v, %v, want the container %s", left, err, name)
	}
	if err := left[0].Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if left, err := New().Leftovers(t.Context(), kit, kit.RunID); err != nil || len(left) != 0 {
		t.Errorf("still there: %v, %v", left, err)
	}
	if err := env.unmake(name); err != nil {
		t.Error(err)
	}
}
