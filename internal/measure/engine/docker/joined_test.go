package docker

import (
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

// TestJoined: a build may be a daemon that runs already. It is used as it is, beside the
// user's; what it makes there stands in the ledger with its address; and what it lacks is
// not had from a private one.
func TestJoined(t *testing.T) {
	p := startPrivate(t, nil)
	e := New()
	text := "dockerd:other=" + p.host()
	a, err := build.Parse(text, "--build", "/")
	require.NoError(t, err)
	builds, err := build.Bind(t.Context(), []build.Asked{a}, e.Info().Programs, exec.LookPath)
	require.NoError(t, err)
	plain := enginetest.Kit(t)
	kit := plain.With(builds)
	ledger := &everMade{Ledger: kit.Ledger}
	kit.Ledger = ledger

	det := e.Detect(t.Context(), kit)
	if !det.Usable || "unix://"+det.Where != p.host() {
		t.Fatalf("found is %s, not %s: %s", det.Where, p.host(), det.Reason)
	}
	i := slices.IndexFunc(det.Levels[engine.Storage], func(l engine.Level) bool { return l.Name == "vfs" })
	if l := det.Levels[engine.Storage][i]; l.Usable && det.Facts["storage"] != "vfs" || !l.Usable && !strings.Contains(l.Reason, "is used as it is") {
		t.Errorf("a storage driver that it lacks: %+v", l)
	}
	levels := map[string]string{engine.Network: "none"}
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "joined", Levels: levels})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Close(t.Context())) })
	args := probe.PayloadArgs{}
	res, err := env.Run(t.Context(), newTask(&args))
	require.NoError(t, err)
	if res.Failure != nil {
		t.Fatalf("%+v", res.Failure)
	}
	pids, err := env.(engine.Resident).Residents()
	require.NoError(t, err)
	if pid := pids["dockerd"]; pid != p.cmd.Process.Pid {
		t.Errorf("the daemon is process %d, and %d was started", pid, p.cmd.Process.Pid)
	}
	if f := env.Facts(); f["host"] != p.host() || f["daemon"] == "private" {
		t.Errorf("facts %v", f)
	}
	if len(ledger.made) == 0 || slices.ContainsFunc(ledger.made, func(t engine.Thing) bool { return t.At != p.host() }) {
		t.Errorf("the ledger has %+v", ledger.made)
	}

	levels = map[string]string{engine.Network: "none", engine.With: engine.OwnDaemon}
	if env, err := e.Open(t.Context(), kit, engine.Spec{ID: "joined-own", Levels: levels}); err == nil || !strings.Contains(err.Error(), "is used as it is") {
		if env != nil {
			_ = env.Close(t.Context()) // the test has failed
		}
		t.Errorf("a private daemon in the place of the one that runs: %v", err)
	}
}

// everMade is a ledger that remembers what is gone, too.
type everMade struct {
	engine.Ledger
	made []engine.Thing
}

func (l *everMade) Made(t engine.Thing) error {
	l.made = append(l.made, t)
	return l.Ledger.Made(t)
}
