package docker

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

// bearing lists the containers that bear a run's label.
func (d *daemon) bearing(t *testing.T) (names []string) {
	t.Helper()
	list, err := d.ContainerList(t.Context(), client.ContainerListOptions{All: true,
		Filters: client.Filters{}.Add("label", engine.Label+"="+d.runID)})
	require.NoError(t, err)
	for _, c := range list.Items {
		names = append(names, c.Names...)
	}
	return names
}

// TestKilledClient: the daemon finishes what a client has asked for that is killed. Its
// container is gone when the trial is over, and does not come afterwards.
func TestKilledClient(t *testing.T) {
	env, _ := killed(t)
	if env.cli == nil {
		t.Skip("the program docker is not installed")
	}
	env.byCLI = true
	var late []string
	for i := range 30 {
		var args probe.PayloadArgs
		task := newTask(&args)
		args.Stay = true
		task.Name, task.Argv = adapter.Name(env.d.runID, fmt.Sprintf("killed-%d", i)), args.Argv(task.Argv[0])
		task.Limit = time.Duration(20+4*i) * time.Millisecond
		res, err := env.Run(t.Context(), task)
		require.NoError(t, err)
		if res.Failure == nil || res.Failure.Class != record.TimeOut {
			t.Fatalf("killed after %v: %+v", task.Limit, res.Failure)
		}
		for range 20 {
			if engine.Pause(t.Context(), 25*time.Millisecond); slices.Contains(env.d.bearing(t), "/"+task.Name) {
				late = append(late, task.Limit.String())
				_, _ = env.d.removeContainer(context.Background(), task.Name)
			}
		}
	}
	if len(late) > 0 {
		t.Errorf("the container came after its client was killed and nobody found one: killed after %v", late)
	}
}

// TestSweepAfterAKilledClient: a clean-up that comes at once does not take for gone what
// the daemon is still making for a run that was killed.
func TestSweepAfterAKilledClient(t *testing.T) {
	env, later := killed(t)
	if env.cli == nil {
		t.Skip("the program docker is not installed")
	}
	e := New()
	var late []string
	for i := range 20 {
		var args probe.PayloadArgs
		task := newTask(&args)
		args.Stay = true
		task.Name, task.Argv = adapter.Name(env.d.runID, fmt.Sprintf("swept-%d", i)), args.Argv(task.Argv[0])
		require.NoError(t, env.AdmitHeld(t.Context(), task))
		cmd := env.cli.command(env.settings.args(task, "--rm")...)
		client := exec.Command(cmd.Argv[0], cmd.Argv[1:]...)
		client.Env = cmd.Env
		require.NoError(t, client.Start())
		limit := time.Duration(20+5*i) * time.Millisecond
		time.Sleep(limit)
		require.NoError(t, client.Process.Kill())
		_ = client.Wait() // killed
		left, err := e.Leftovers(t.Context(), later, []engine.Thing{*env.Thing(task)})
		require.NoError(t, err)
		for _, l := range left {
			require.NoError(t, l.Problem)
			require.NoError(t, l.Remove(t.Context()))
		}
		for range 20 {
			if engine.Pause(t.Context(), 25*time.Millisecond); slices.Contains(env.d.bearing(t), "/"+task.Name) {
				late = append(late, limit.String())
				_, _ = env.d.removeContainer(context.Background(), task.Name)
			}
		}
	}
	if len(late) > 0 {
		t.Errorf("the container came after the clean-up: its client was killed after %v", late)
	}
}

// TestNameIs: what a daemon says of a name, and that one says nothing which does not answer
// in time. It may be making the container that it was asked by, which the ledger must keep.
func TestNameIs(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "docker.sock")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	var status atomic.Int32 // of who creates a container; 0: no answer comes
	server := &http.Server{ReadHeaderTimeout: time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch is := int(status.Load()); {
		case strings.HasSuffix(r.URL.Path, "/_ping"):
			w.Header().Set("Api-Version", "1.44")
		case !strings.HasSuffix(r.URL.Path, "/containers/create"):
			w.WriteHeader(http.StatusNotFound)
		case is == 0:
			<-r.Context().Done()
		default:
			w.WriteHeader(is)
		}
		_, _ = w.Write([]byte(`{"message": "no"}`))
	})}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	d, err := New().connect(&engine.Kit{Getenv: func(string) string { return "" }}, "unix://"+socket)
	require.NoError(t, err)
	defer d.Close()
	for answer, want := range map[int]nameState{http.StatusConflict: taken, http.StatusNotFound: unknown} {
		status.Store(int32(answer))
		if is, err := d.nameIs(t.Context(), "plimsoll-x-1", "an-image"); err != nil || is != want {
			t.Errorf("%d: %v, %v", answer, is, err)
		}
	}
	status.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if is, err := d.nameIs(ctx, "plimsoll-x-1", "an-image"); err == nil {
		t.Errorf("a daemon that does not answer: %v", is)
	}
}
