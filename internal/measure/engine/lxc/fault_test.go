package lxc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
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
	"plimsoll/internal/record"
)

func open(t *testing.T, kit *engine.Kit, levels map[string]string) *environment {
	t.Helper()
	e := New()
	if d := e.Detect(t.Context(), kit); !d.Usable {
		t.Skipf("not usable here: %s (try: %s)", d.Reason, d.Fix)
	}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "fault", Levels: levels})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return env.(*environment)
}

func newTask(kit *engine.Kit, args *probe.PayloadArgs) engine.Task {
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name(kit.RunID, args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 20 * time.Second}
}

// TestEvents: a system container's own events are there, in order, and the
// image is as it was.
func TestEvents(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	before := stateOf(t, env.image)
	var args probe.PayloadArgs
	res, err := env.Run(t.Context(), newTask(kit, &args))
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v", err, res.Failure)
	}
	said, err := probe.ParsePayload(res.Stdout, args.Word)
	require.NoError(t, err)
	res.Events[record.First] = said.First
	at := int64(0)
	for _, ev := range []record.Event{record.Request, record.Start, record.Exec, record.First, record.Ready, record.Exit, record.Removed} {
		if res.Events[ev] < at || res.Events[ev] == 0 {
			t.Errorf("%s is missing or out of order: %v", ev, res.Events)
		}
		at = res.Events[ev]
	}
	// lxc-start may be back, and lxc-attach begun, before the container's init has its
	// first instruction.
	if init := res.Events[record.Init]; init < res.Events[record.Start] || init > res.Events[record.Exit] {
		t.Errorf("%s is missing or out of order: %v", record.Init, res.Events)
	}
	after := stateOf(t, env.image)
	for path, was := range before {
		if now := after[path]; now != was {
			t.Errorf("the image, which all share: %s was %s, and is %s", path, was, now)
		}
	}
	if len(after) > len(before) {
		t.Errorf("the image, which all share, has %d files more", len(after)-len(before))
	}
}

// stateOf tells of all below a directory what changes with it. A mount point
// that was made and removed again shows in its directory's time.
func stateOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		var st unix.Stat_t
		err = unix.Lstat(path, &st)
		all[path] = fmt.Sprintf("%o %d:%d, %d bytes on %d at %d", st.Mode, st.Uid, st.Gid, st.Size, st.Dev, st.Mtim.Nano())
		return err
	})
	require.NoError(t, err)
	return all
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

	require.NoError(t, os.WriteFile(env.dir+"/config", []byte("lxc.no.such = key\n"), 0o644))
	res, err = env.Run(t.Context(), newTask(kit, &args))
	if err != nil || res.Failure == nil || res.Failure.Class != record.EngineError {
		t.Errorf("a configuration that is broken: %v, %+v, want class %s", err, res.Failure, record.EngineError)
	}
	t.Logf("%+v", res.Failure)
}

// start starts a container as a trial does, and leaves it.
func start(t *testing.T, env *environment, name, lxcpath string) {
	t.Helper()
	args := append(env.own(name), "-d")
	args[3] = lxcpath
	out, err := exec.CommandContext(t.Context(), env.programs["lxc-start"], args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// later is the kit of a clean-up that comes later, in another environment.
func later(kit *engine.Kit) *engine.Kit {
	k := *kit
	k.LookPath = func(string) (string, error) { return "", errors.New("not on the PATH") }
	k.Getenv = func(string) string { return "" }
	return &k
}

// TestLeftovers: containers that a killed run has left are removed from the
// ledger alone, and LXC's locks of their directory with them.
func TestLeftovers(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	name := adapter.Name(kit.RunID, "left")
	require.NoError(t, env.make(name))
	start(t, env, name, env.dir)
	if err := env.make(name); err == nil {
		t.Error("a container of a name that is taken can be made")
	}
	lock := env.lockThing()
	if _, err := os.Stat(lock.Name); err != nil {
		t.Errorf("LXC keeps no lock where it is looked for: %v", err)
	}
	removed, kept := engine.Sweep(t.Context(), later(kit), New())
	if !slices.Equal(removed, []engine.Thing{env.thing(name), lock}) || len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}
	if left, err := New().Bearing(t.Context(), kit, kit.RunID); err != nil || len(left) > 0 {
		t.Errorf("still there: %v, %v", left, err)
	}
	if left := engine.Of(kit.Ledger.Left(), "lxc"); len(left) > 0 {
		t.Errorf("in the ledger still: %v", left)
	}
}

// TestAnothersContainer: a container of just our name, in a directory of a user's,
// is not ours: none is made beside it, and it stays though the ledger names it.
func TestAnothersContainer(t *testing.T) {
	kit := enginetest.Kit(t)
	env := open(t, kit, nil)
	theirs := t.TempDir()
	var args probe.PayloadArgs
	task := newTask(kit, &args)
	start(t, env, task.Name, theirs)
	t.Cleanup(func() {
		out, err := exec.CommandContext(context.Background(), env.programs["lxc-stop"], "-n", task.Name, "-P", theirs, "-k").CombinedOutput()
		if err != nil {
			t.Errorf("it was to be there still: %v: %s", err, out)
		}
		unlock(theirs)
	})
	res, err := env.Run(t.Context(), task)
	if err != nil || res.Failure == nil || res.Failure.Class != record.HarnessError {
		t.Errorf("%v, %+v, want class %s", err, res.Failure, record.HarnessError)
	}
	require.NoError(t, kit.Ledger.Made(env.thing(task.Name)))
	if removed, kept := engine.Sweep(t.Context(), later(kit), New()); slices.Contains(removed, env.thing(task.Name)) || len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}
	if there, err := groups(task.Name); err != nil || !alive(there) {
		t.Errorf("it does not run any more: %v, %v", there, err)
	}
}
