package probe

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
)

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func within(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("%s did not come", what)
	}
}

func TestLauncherHolds(t *testing.T) {
	l, path := startLauncher(t, Options{})
	h, err := l.Hold(Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Stay: true}.Argv(path), Background: true}}})
	require.NoError(t, err)
	within(t, "the first byte", h.Ready())
	state, err := h.State(t.Context())
	if err != nil || state.Ready == 0 || state.Commands[0].Exit != 0 {
		t.Fatalf("while it runs: %+v, %v", state, err)
	}
	if p, err := ParsePayload(state.Commands[0].Stdout, "w"); err != nil || p.Done != 0 {
		t.Errorf("its output so far: %+v, %v", p, err)
	}
	if isClosed(h.Over()) {
		t.Error("it is over, though it was not told to end")
	}
	res, err := h.End(t.Context(), 5*time.Second, []Command{{Signal: int(syscall.SIGTERM)}, {Signal: int(syscall.SIGKILL), Await: AwaitGrace, Grace: 4 * time.Second}})
	require.NoError(t, err)
	if !isClosed(h.Over()) {
		t.Error("it has ended and is not over")
	}
	p, perr := ParsePayload(res.Commands[0].Stdout, "w")
	if perr != nil || p.Done == 0 || len(res.Commands) != 3 || !res.Commands[2].Skipped || res.Commands[0].Exit < res.Commands[1].Spawn {
		t.Errorf("%+v, %v, %+v", p, perr, res)
	}
	if again, err := h.End(t.Context(), time.Second, nil); err != nil || again != res {
		t.Errorf("for the second time: %+v, %v", again, err)
	}
	// The launcher serves as before.
	if res, err := l.Run(t.Context(), Job{Commands: []Command{sh(t, "exit 3")}}); err != nil || res.Commands[0].Status != 3<<8 {
		t.Errorf("a job after it: %+v, %v", res, err)
	}
}

// An end that nobody asked for is told.
func TestLauncherHoldsWhatEnds(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	h, err := l.Hold(Job{Commands: []Command{sh(t, "echo hello; sleep 0.1; echo oh >&2; exit 7")}})
	require.NoError(t, err)
	within(t, "the first byte", h.Ready())
	within(t, "the end", h.Over())
	state, err := h.State(t.Context())
	if err != nil || string(state.Commands[0].Stderr) != "oh\n" {
		t.Errorf("%+v, %v", state, err)
	}
	res, err := h.End(t.Context(), time.Second, []Command{sh(t, "echo removed"), {Argv: []string{"/bin/echo", "always"}, Always: true}})
	if err != nil || res.Commands[0].Status != 7<<8 || !res.Commands[1].Skipped || string(res.Commands[2].Stdout) != "always\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A container whose commands have all ended is held as long as its process.
func TestLauncherHoldsByPidFile(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	file := t.TempDir() + "/pid"
	start := sh(t, "(trap 'exit 5' TERM; echo hello; while :; do sleep 0.01; done) & echo $! >"+file)
	start.PidFile = file
	h, err := l.Hold(Job{Commands: []Command{start}})
	require.NoError(t, err)
	within(t, "the first byte", h.Ready())
	time.Sleep(50 * time.Millisecond)
	if isClosed(h.Over()) {
		t.Error("the command has ended, the container has not, and it is over")
	}
	res, err := h.End(t.Context(), 5*time.Second, []Command{{Signal: int(syscall.SIGTERM)}})
	if err != nil || !res.ContainerReaped || res.ContainerStatus != 5<<8 || res.Commands[0].Exit > res.Commands[1].Spawn {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestLauncherHoldsNothing(t *testing.T) {
	l, _ := startLauncher(t, Options{})
	h, err := l.Hold(Job{Commands: []Command{{Argv: []string{"/no/such/program"}}}})
	require.NoError(t, err)
	within(t, "the end", h.Over())
	res, err := h.End(t.Context(), time.Second, nil)
	if err != nil || isClosed(h.Ready()) || res.Commands[0].Errno != int(syscall.ENOENT) {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestLauncherHoldsUntilAborted(t *testing.T) {
	l, path := startLauncher(t, Options{})
	for _, how := range []string{"abort", "context"} {
		h, err := l.Hold(Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Stay: true, OnTerm: "ignore"}.Argv(path)}}})
		require.NoError(t, err)
		within(t, "the first byte", h.Ready())
		var res *JobResult
		if how == "abort" {
			res, err = h.Abort(t.Context())
		} else {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			res, err = h.End(ctx, 20*time.Second, []Command{{Await: AwaitContainerExit}})
			cancel()
		}
		if err != nil || !syscall.WaitStatus(res.Commands[0].Status).Signaled() {
			t.Errorf("%s: %+v, %v", how, res, err)
		}
	}
}

func TestLauncherDiesHolding(t *testing.T) {
	l, path := startLauncher(t, Options{})
	h, err := l.Hold(Job{Commands: []Command{{Argv: PayloadArgs{Word: "w", Stay: true}.Argv(path)}}})
	require.NoError(t, err)
	within(t, "the first byte", h.Ready())
	require.NoError(t, syscall.Kill(l.PID(), syscall.SIGKILL))
	within(t, "the end", h.Over())
	if _, err := h.End(t.Context(), time.Second, nil); err == nil || !strings.Contains(err.Error(), "has died") {
		t.Errorf("error %v", err)
	}
}
