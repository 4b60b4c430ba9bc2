package docker

import (
	"context"
	"net"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/measure/probe"
)

// killed is an environment of a run that was killed, with a kit for the clean-up
// after it, whose environment names another daemon.
func killed(t *testing.T) (env *environment, later *engine.Kit) {
	t.Helper()
	kit := enginetest.Kit(t)
	e := New()
	if det := e.Detect(t.Context(), kit); !det.Usable {
		t.Skipf("docker is not usable here: %s (try: %s)", det.Reason, det.Fix)
	}
	opened, err := e.Open(t.Context(), kit, engine.Spec{ID: "left", Levels: map[string]string{engine.Network: "none"}})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := opened.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	after := *kit
	after.Getenv = func(name string) string {
		if name == plain.variable {
			return "unix:///nowhere/docker.sock"
		}
		return kit.Getenv(name)
	}
	return opened.(*environment), &after
}

// makes creates a container, as the run whose label it bears would.
func makes(t *testing.T, env *environment, name, runID string, mounts ...engine.Mount) {
	t.Helper()
	var args probe.PayloadArgs
	task := newTask(&args)
	task.Name, task.Mounts = name, mounts
	s := env.settings
	s.runID = runID
	made, err := env.d.ContainerCreate(t.Context(), s.options(task))
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = env.d.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	})
}

func there(t *testing.T, d *daemon, name string) bool {
	t.Helper()
	list, err := d.ContainerList(t.Context(), client.ContainerListOptions{All: true})
	require.NoError(t, err)
	for _, c := range list.Items {
		if slices.Contains(c.Names, "/"+name) {
			return true
		}
	}
	return false
}

// TestLeftovers: what a killed run left is found by its ledger, at the daemon
// where it was made, whatever the environment names by then, and removed; what
// looks just like it and is in no ledger, or bears another label, stays.
func TestLeftovers(t *testing.T) {
	env, kit := killed(t)
	d, ctx := env.d, t.Context()
	name := func(part string) string { return adapter.Name(kit.RunID, part) }
	// The user's tag goes last: containers use the image.
	const web = "localhost/plimsoll/web:"
	if _, err := d.ImageTag(ctx, client.ImageTagOptions{Source: env.settings.image, Target: web + kit.RunID}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = d.ImageRemove(context.Background(), web+kit.RunID, client.ImageRemoveOptions{}) })
	require.NoError(t, env.AdmitHeld(ctx, engine.Task{Name: name("ours")}))
	makes(t, env, name("ours"), kit.RunID, engine.Mount{Kind: engine.Volume, Target: "/data"})
	// A volume whose container is gone already: the daemon was killed between.
	require.NoError(t, env.AdmitHeld(ctx, engine.Task{Name: name("torn")}))
	volume := func(name string, labels map[string]string) {
		if _, err := d.VolumeCreate(ctx, client.VolumeCreateOptions{Name: name, Labels: labels}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = d.VolumeRemove(context.Background(), name, client.VolumeRemoveOptions{}) })
	}
	volume("torn-"+kit.RunID, map[string]string{engine.Label: kit.RunID, containerLabel: name("torn")})

	// A user's, as like ours as they can be.
	require.NoError(t, env.AdmitHeld(ctx, engine.Task{Name: name("taken")}))
	makes(t, env, name("taken"), "another")
	makes(t, env, name("like"), kit.RunID)
	volume("plimsoll-"+kit.RunID, map[string]string{engine.Label: kit.RunID})

	removed, kept := engine.Sweep(ctx, kit, New())
	if len(kept) > 0 {
		t.Errorf("kept: %+v", kept)
	}
	var names []string
	for _, r := range removed {
		names = append(names, r.Name)
	}
	if want := []string{name("torn"), name("ours"), env.settings.image}; !slices.Equal(names, want) {
		t.Errorf("removed %q, want %q", names, want)
	}
	for n, want := range map[string]bool{name("ours"): false, name("taken"): true, name("like"): true} {
		if there(t, d, n) != want {
			t.Errorf("the container %s is there: %v", n, !want)
		}
	}
	if ok, err := d.has(ctx, web+kit.RunID); err != nil || !ok {
		t.Errorf("the user's tag is gone (%v)", err)
	}
	bearing, err := New().Bearing(ctx, env.kit, kit.RunID)
	names = names[:0]
	for _, b := range bearing {
		names = append(names, b.Name)
	}
	slices.Sort(names)
	if want := []string{"/" + name("like"), web + kit.RunID, "plimsoll-" + kit.RunID}; err != nil || !slices.Equal(names, want) {
		t.Errorf("what bears the run's id is %q (%v), want the user's %q", names, err, want)
	}
	if left := kit.Ledger.Left(); len(left) > 0 {
		t.Errorf("still in the ledger: %v", left)
	}
}

// TestImageInUse: an image of ours that somebody has made a container of stays,
// with that container, and the ledger goes on naming it.
func TestImageInUse(t *testing.T) {
	env, kit := killed(t)
	// An image of its own: other runs may have a tag on the environment's.
	ours := "localhost/plimsoll/used:" + kit.RunID
	require.NoError(t, env.d.enter(kit.Ledger, engine.KindImage, ours))
	makes(t, env, "somebodys-plimsoll-"+kit.RunID, "another")
	if _, err := env.d.ContainerCommit(t.Context(), "somebodys-plimsoll-"+kit.RunID, client.ContainerCommitOptions{Reference: ours}); err != nil {
		t.Fatal(err)
	}
	if _, err := env.d.ContainerRemove(t.Context(), "somebodys-plimsoll-"+kit.RunID, client.ContainerRemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	users := "somebodys-container-" + kit.RunID
	made, err := env.d.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: users, Image: ours})
	require.NoError(t, err)
	drop := func() {
		_, _ = env.d.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true})
	}
	t.Cleanup(drop)
	removed, kept := engine.Sweep(t.Context(), kit, New())
	if len(removed) != 1 || len(kept) != 1 || kept[0].Name != ours || kept[0].Fix == "" {
		t.Errorf("removed %v, kept %+v", removed, kept)
	}
	if _, err := env.d.ImageInspect(t.Context(), ours); err != nil {
		t.Errorf("the image of somebody's container is gone: %v", err)
	}
	if !there(t, env.d, users) {
		t.Error("somebody's container is gone")
	}
	drop()
	if _, kept := engine.Sweep(t.Context(), kit, New()); len(kept) > 0 || len(kit.Ledger.Left()) > 0 {
		t.Errorf("when the container is gone: kept %+v, ledger %v", kept, kit.Ledger.Left())
	}
}

// TestNameIsTaken: a trial whose name a user's container has fails, and leaves
// that container alone.
func TestNameIsTaken(t *testing.T) {
	env, kit := killed(t)
	var args probe.PayloadArgs
	task := newTask(&args)
	task.Name = adapter.Name(kit.RunID, "1")
	made, err := env.d.ContainerCreate(t.Context(), client.ContainerCreateOptions{Name: task.Name, Image: env.settings.image})
	require.NoError(t, err)
	t.Cleanup(func() {
		_, _ = env.d.ContainerRemove(context.Background(), made.ID, client.ContainerRemoveOptions{Force: true})
	})
	for _, byCLI := range []bool{false, env.cli != nil} {
		env.byCLI = byCLI
		res, err := env.Run(t.Context(), task)
		if err != nil || res.Failure == nil {
			t.Errorf("Run under a name that is taken: %v, %+v", err, res.Failure)
		}
		if _, err := env.Hold(t.Context(), task); err == nil {
			t.Error("Hold under a name that is taken does not fail")
		}
		if !there(t, env.d, task.Name) {
			t.Fatal("the user's container was removed")
		}
	}
}

// TestNobodyAnswers: a daemon that is not there, or does not answer, is told of with
// what would help, and nothing is struck out.
func TestNobodyAnswers(t *testing.T) {
	hung := filepath.Join(t.TempDir(), "hung.sock")
	l, err := net.Listen("unix", hung)
	require.NoError(t, err)
	defer l.Close() // nobody accepts
	ledger := &kittest.Ledger{}
	kit := enginetest.Kit(t)
	kit.Ledger = ledger
	for _, socket := range []string{filepath.Join(t.TempDir(), "none.sock"), hung} {
		for _, kind := range []string{engine.KindContainer, engine.KindImage} {
			_ = ledger.Made(engine.Thing{Kind: kind, Name: "plimsoll-" + kit.RunID + "-1", Engine: Name, At: "unix://" + socket})
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	removed, kept := engine.Sweep(ctx, kit, New())
	if len(removed) > 0 || len(kept) != 4 || len(ledger.Left()) != 4 {
		t.Errorf("removed %v, kept %v, ledger %v", removed, kept, ledger.Left())
	}
	for _, k := range kept {
		if k.Why == "" || k.Fix == "" {
			t.Errorf("%+v", k)
		}
	}
}

// TestEntries: every container is in the ledger before it is asked for, and out
// of it when it is gone, however it ended.
func TestEntries(t *testing.T) {
	env, kit := killed(t)
	seen := 0
	env.look = func(_ context.Context, _ string) error {
		seen = len(engine.OfKind(kit.Ledger.Left(), engine.KindContainer))
		return nil
	}
	var args probe.PayloadArgs
	if res, err := env.Run(t.Context(), newTask(&args)); err != nil || res.Failure != nil || seen != 1 {
		t.Errorf("%v, %+v; %d entries while it ran", err, res.Failure, seen)
	}
	env.look = nil
	stay := probe.PayloadArgs{Stay: true}
	h, err := env.Hold(t.Context(), newTask(&stay))
	require.NoError(t, err)
	if n := len(engine.OfKind(kit.Ledger.Left(), engine.KindContainer)); n != 1 {
		t.Errorf("%d entries of a held container", n)
	}
	if _, err := h.End(t.Context(), engine.Stop{}); err != nil {
		t.Error(err)
	}
	if _, err := env.Calibrate(t.Context(), newTask(&probe.PayloadArgs{Echo: true}), 2); err != nil {
		t.Error(err)
	}
	failing := newTask(&args)
	failing.Argv = []string{"/no/such/program"}
	if res, err := env.Run(t.Context(), failing); err != nil || res.Failure == nil {
		t.Errorf("%v, %+v", err, res.Failure)
	}
	if left := engine.OfKind(kit.Ledger.Left(), engine.KindContainer); len(left) > 0 {
		t.Errorf("still in the ledger: %v", left)
	}
}
