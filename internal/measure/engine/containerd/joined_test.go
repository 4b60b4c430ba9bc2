package containerd

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/build"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/probe"
)

// TestJoined: a build may be a daemon that runs already. It is used as it is, and what it
// lacks is not had from a private one.
func TestJoined(t *testing.T) {
	plain := enginetest.Kit(t)
	d := startTestDaemon(t, plain)
	plain.Getenv = os.Getenv // nobody names it but the build
	e := New()
	a, err := build.Parse("containerd:other=unix://"+d.socket, "--build", "/")
	require.NoError(t, err)
	builds, err := build.Bind(t.Context(), []build.Asked{a}, e.Info().Programs, exec.LookPath)
	require.NoError(t, err)
	kit := plain.With(builds)

	det := e.Detect(t.Context(), kit)
	if !det.Usable || det.Where != d.socket {
		t.Fatalf("found is %s, not %s: %s", det.Where, d.socket, det.Reason)
	}
	i := slices.IndexFunc(det.Levels[engine.Storage], func(l engine.Level) bool { return l.Name == "btrfs" })
	has := slices.Contains(strings.Split(det.Facts["snapshotters"], ","), "btrfs")
	if l := det.Levels[engine.Storage][i]; l.Usable != has || !has && !strings.Contains(l.Reason, "is used as it is") {
		t.Errorf("a snapshotter that it lacks: %+v", l)
	}
	env := open(t, kit, map[string]string{engine.Storage: "native"}, engine.Limits{})
	pids, err := env.Residents()
	require.NoError(t, err)
	if pid := pids[daemonProgram]; pid != d.cmd.Process.Pid {
		t.Errorf("the daemon is process %d, and %d was started", pid, d.cmd.Process.Pid)
	}
	if f := env.Facts(); f["host"] != d.socket || f["daemon"] == "private" {
		t.Errorf("facts %v", f)
	}
	var args probe.PayloadArgs
	res, err := env.Run(t.Context(), newTask(kit.RunID, &args))
	if err != nil || res.Failure != nil {
		t.Fatalf("%v, %+v", err, res.Failure)
	}
	require.NoError(t, env.Close(t.Context()))

	shim := slices.Clone(builds)
	shim[0].Program, shim[0].Socket = shimProgram, ""
	both := plain.With(append(shim, builds...))
	if env, err := e.Open(t.Context(), both, engine.Spec{ID: "shim", Levels: map[string]string{engine.Storage: "native"}}); err == nil || !strings.Contains(err.Error(), "is used as it is") {
		if env != nil {
			_ = env.Close(t.Context()) // the test has failed
		}
		t.Errorf("another shim below a daemon that runs already: %v", err)
	}
}
