package sarus

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
)

// hold opens an environment with a container that stays.
func hold(t *testing.T, e *Engine, kit *engine.Kit) (engine.Environment, engine.Held) {
	t.Helper()
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "left", Limits: engine.Limits{MemoryBytes: 64 << 20}})
	if err != nil {
		var no *engine.Error
		if errors.As(err, &no) {
			t.Skipf("can't be had here: %v", err)
		}
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := env.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	args := probe.PayloadArgs{Word: adapter.Word(), Stay: true}
	held, err := env.(engine.Holder).Hold(t.Context(), engine.Task{Name: adapter.Name(kit.RunID, "held", args.Word[:6]),
		Argv: args.Argv(image.ProbePath), Limit: time.Minute})
	require.NoError(t, err)
	return env, held
}

// theirs is what a user has that looks like a run's: an image and a container.
func theirs(t *testing.T, e *Engine, kit *engine.Kit) (still func() bool) {
	t.Helper()
	s := e.by(mustLook(t, kit, program), nil)
	const tag, name = "plimsoll-payload:abcdefgh", "plimsoll-abcdefgh-held"
	path, err := kit.Images.Path(t.Context(), "payload", image.DockerArchive)
	require.NoError(t, err)
	require.NoError(t, s.load(t.Context(), kit, path, "payload", tag))
	args := probe.PayloadArgs{Word: adapter.Word(), Stay: true}
	cmd := exec.Command(s.path, append([]string{"run", "--name=" + name, loaded + tag}, args.Argv(image.ProbePath)...)...)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = cmd.Process.Signal(unix.SIGTERM)
		_ = cmd.Wait()
		if err := s.remove(context.Background(), kit, loaded+tag); err != nil {
			t.Error(err)
		}
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return func() bool {
		refs, err := s.references(t.Context(), kit)
		there, err2 := s.there(t.Context(), kit, name)
		return err == nil && err2 == nil && there && slices.Contains(refs, loaded+tag) && adapter.FindProcess(args.Argv(image.ProbePath)) != 0
	}
}

func mustLook(t *testing.T, kit *engine.Kit, name string) string {
	t.Helper()
	path, err := kit.LookPath(name)
	require.NoError(t, err)
	return path
}

// killTree kills `sarus run` with its runtime, as an end of Plimsoll by SIGKILL
// does.
func killTree(t *testing.T, payload int) {
	t.Helper()
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(payload) + "/stat")
	require.NoError(t, err)
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	parent, err := strconv.Atoi(fields[1])
	require.NoError(t, err)
	group, err := unix.Getpgid(parent) // of the runtime, which the launcher put into the client's
	if err != nil || group == unix.Getpgrp() {
		t.Fatalf("the group of the runtime is %d: %v", group, err)
	}
	require.NoError(t, unix.Kill(-group, unix.SIGKILL))
}

// A container that was killed with its `sarus run` is found and removed from the
// ledger alone, with PATH and all else as it may be by then; what a user has
// stays.
func TestKilledTree(t *testing.T) {
	e, kit := installed(t)
	if !kit.Root {
		t.Skip("needs root: Sarus' runtime keeps its state where only root may look")
	}
	still := theirs(t, e, kit)
	_, held := hold(t, e, kit)
	name := held.(interface{ Task() engine.Task }).Task().Name
	killTree(t, held.Place().PID)
	<-held.Ended()
	s := e.by(mustLook(t, kit, program), nil)
	if there, err := s.there(t.Context(), kit, name); !there || err != nil {
		t.Fatalf("nothing is left after the kill (%v), so that nothing is shown", err)
	}

	later := New()
	later.states = e.states
	poor := *kit
	poor.LookPath = func(name string) (string, error) {
		if name == "runc" {
			return kit.LookPath(name)
		}
		return "", exec.ErrNotFound
	}
	poor.Getenv = func(string) string { return "" }
	removed, kept := engine.Sweep(t.Context(), &poor, later)
	if len(kept) > 0 {
		t.Errorf("kept %v", kept)
	}
	var kinds []string
	for _, r := range removed {
		kinds = append(kinds, r.Kind)
	}
	slices.Sort(kinds)
	if !slices.Equal(kinds, []string{engine.KindContainer, engine.KindImage}) {
		t.Errorf("removed %v, expected the image and the container", removed)
	}
	if there, err := s.there(t.Context(), kit, name); there || err != nil {
		t.Errorf("the container is still there (%v)", err)
	}
	if groups, err := cgroup.Below(kit.Ledger, name); len(groups) > 0 || err != nil {
		t.Errorf("control groups are left: %v, %v", groups, err)
	}
	if !still() {
		t.Error("an image or a container of the user's is gone")
	}
}

// A trial whose `sarus run` is killed by somebody leaves nothing, and says that
// something was left.
func TestTrialKilled(t *testing.T) {
	e, kit := installed(t)
	if !kit.Root {
		t.Skip("needs root: Sarus' runtime keeps its state where only root may look")
	}
	env, held := hold(t, e, kit)
	args := probe.PayloadArgs{Word: adapter.Word(), Stay: true}
	task := engine.Task{Name: adapter.Name(kit.RunID, "killed", args.Word[:6]), Argv: args.Argv(image.ProbePath), Limit: time.Minute}
	done := make(chan engine.Result, 1)
	go func() {
		res, err := env.Run(t.Context(), task)
		if err != nil {
			t.Error(err)
		}
		done <- res
	}()
	pid := 0
	for pid == 0 {
		time.Sleep(time.Millisecond)
		pid = adapter.FindProcess(task.Argv)
	}
	killTree(t, pid)
	res := <-done
	if res.Failure == nil || !strings.Contains(res.Failure.Text, "was still there") {
		t.Errorf("failure %+v", res.Failure)
	}
	s := e.by(mustLook(t, kit, program), nil)
	groups, err := cgroup.Below(kit.Ledger, task.Name)
	if there, terr := s.there(t.Context(), kit, task.Name); there || terr != nil || err != nil || len(groups) > 0 {
		t.Errorf("left: the container %v (%v), groups %v (%v)", there, terr, groups, err)
	}
	if left := engine.OfKind(kit.Ledger.Left(), engine.KindContainer); len(left) != 1 || left[0].Name == task.Name {
		t.Errorf("the ledger has %v, expected the held one alone", left)
	}
	if res, err := held.End(t.Context(), engine.Stop{Grace: time.Second}); err != nil || res.Failure != nil {
		t.Errorf("the held one: %v, %+v", err, res.Failure)
	}
}

// What can't be reached is kept, with what would help.
func TestOutOfReach(t *testing.T) {
	kit := &engine.Kit{RunID: "abcdefgh", Root: true, Ledger: &kittest.Ledger{}, LookPath: exec.LookPath, NoUser: "there is none"}
	e := New()
	for _, t2 := range []engine.Thing{
		{Kind: engine.KindImage, Name: "load/library/x:abcdefgh", Engine: "sarus", At: "/no/such/sarus"},
		{Kind: engine.KindContainer, Name: "plimsoll-abcdefgh-x", Engine: "sarus", At: "/no/such/sarus", As: "somebody"},
	} {
		_ = kit.Ledger.Made(t2)
	}
	removed, kept := engine.Sweep(t.Context(), kit, e)
	if len(removed) > 0 || len(kept) != 2 {
		t.Fatalf("removed %v, kept %v", removed, kept)
	}
	for _, k := range kept {
		if k.Why == "" || k.Fix == "" {
			t.Errorf("%s: why %q, what helps %q", k.Thing, k.Why, k.Fix)
		}
	}
	if len(kit.Ledger.Left()) != 2 {
		t.Errorf("the ledger has %v", kit.Ledger.Left())
	}
}

// A control group that a container has left without anything else is ours by
// its name in the ledger, where Sarus' runtime makes it: one of that name elsewhere is
// a user's.
func TestGroupsAlone(t *testing.T) {
	kit := enginetest.Kit(t)
	group, err := cgroup.New(kit, "sarus-groups", engine.Limits{MemoryBytes: 64 << 20})
	require.NoError(t, err)
	defer func() {
		if err := group.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if len(group.Procs()) == 0 {
		t.Skip("no cgroup can be made here")
	}
	name := adapter.Name(kit.RunID, "alone")
	dir := strings.TrimSuffix(group.Procs()[0], "cgroup.procs") + name
	require.NoError(t, os.Mkdir(dir, 0o755))
	theirs := filepath.Join(filepath.Dir(filepath.Dir(dir)), "theirs-"+kit.RunID, name)
	require.NoError(t, os.MkdirAll(theirs, 0o755))
	defer func() { _ = errors.Join(os.Remove(theirs), os.Remove(filepath.Dir(theirs))) }()
	e := New()
	e.states = t.TempDir()
	require.NoError(t, kit.Ledger.Made(e.by("/no/such/sarus", nil).thing(engine.KindContainer, name)))
	removed, kept := engine.Sweep(t.Context(), kit, e)
	if len(removed) != 1 || len(kept) > 0 {
		t.Errorf("removed %v, kept %v", removed, kept)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the group is still there")
	}
	if _, err := os.Stat(theirs); err != nil {
		t.Error("a user's group of that name is gone")
	}
}
