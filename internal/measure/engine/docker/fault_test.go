package docker

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

	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/record"
)

func newTask(args *probe.PayloadArgs) engine.Task {
	args.Word = adapter.Word()
	return engine.Task{Name: adapter.Name("fault000", args.Word[:8]), Argv: args.Argv(image.ProbePath), Limit: 30 * time.Second}
}

// TestPrivateDaemon has faults that can't be made on a daemon that others use.
func TestPrivateDaemon(t *testing.T) {
	runc, err := exec.LookPath("runc")
	if err != nil {
		t.Skip("runc is not installed")
	}
	// By its name and its path this is crun.
	fake := filepath.Join(t.TempDir(), "crun")
	require.NoError(t, os.Symlink(runc, fake))
	p := startPrivate(t, map[string]string{"crun": fake})
	t.Run("wrong runtime", func(t *testing.T) {
		_, err := p.open(t, map[string]string{engine.Runtime: "crun", engine.Network: "none"}, engine.Limits{})
		var e *engine.Error
		if !errors.As(err, &e) || e.Class != record.WrongComponent || !strings.Contains(e.Text, "runc") {
			t.Fatalf("runc under the name of crun: %v, want class %s", err, record.WrongComponent)
		}
	})
	for _, by := range []string{byAPI, byCLI} {
		t.Run("daemon dies "+by, func(t *testing.T) { dies(t, p, by) })
	}
}

// dies: a daemon that is killed in the middle of a trial fails this trial and
// those that follow, with a clear class, and no more once it is back.
func dies(t *testing.T, p *privateDaemon, by string) {
	env, err := p.open(t, map[string]string{engine.Client: by, engine.Network: "none"}, engine.Limits{})
	require.NoError(t, err)
	d := env.(*environment).d
	args := probe.PayloadArgs{Stay: true}
	task := newTask(&args)
	done := make(chan engine.Result, 1)
	go func() {
		res, err := env.Run(t.Context(), task)
		if err != nil {
			t.Errorf("Run: %v", err)
		}
		done <- res
	}()
	for {
		c, err := d.ContainerInspect(t.Context(), task.Name, client.ContainerInspectOptions{})
		if err == nil && c.Container.State.Running {
			break
		}
		select {
		case res := <-done:
			t.Fatalf("the trial ended too early: %+v", res.Failure)
		case <-time.After(20 * time.Millisecond):
		}
	}
	p.kill()
	res := <-done
	if res.Failure == nil || res.Failure.Class != record.Unavailable {
		t.Fatalf("in the middle: failure %+v, want class %s", res.Failure, record.Unavailable)
	}
	t.Logf("in the middle: %s", res.Failure.Text)

	var plain probe.PayloadArgs
	res, err = env.Run(t.Context(), newTask(&plain))
	require.NoError(t, err)
	if res.Failure == nil || res.Failure.Class != record.Unavailable || !strings.Contains(res.Failure.Text, p.host()) {
		t.Fatalf("without a daemon: failure %+v, want class %s and its address", res.Failure, record.Unavailable)
	}
	t.Logf("without a daemon: %s", res.Failure.Text)

	p.start()
	again := newTask(&plain)
	res, err = env.Run(t.Context(), again)
	if err != nil || res.Failure != nil {
		t.Fatalf("after its return: %v, %+v", err, res.Failure)
	}
	if _, err := probe.ParsePayload(res.Stdout, plain.Word); err != nil {
		t.Error(err)
	}
	kit := env.(*environment).kit
	// What it had begun to remove when it was killed, the daemon removes beside its
	// start, if it gets so far; the rest is a sweep's, as at the end of a run.
	for begin := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		_, kept := engine.Sweep(t.Context(), kit, New())
		bearing, err := New().Bearing(t.Context(), kit, kit.RunID)
		require.NoError(t, err)
		left := slices.DeleteFunc(append(bearing, kit.Ledger.Left()...), func(b engine.Thing) bool { return b.Kind != engine.KindContainer })
		if len(left) == 0 {
			return
		}
		if time.Since(begin) > 20*time.Second {
			t.Fatalf("of the broken trial there still is %v: %v", left, engine.KeptErrors(kept))
		}
	}
}

// TestFaults are faults within one's own containers.
func TestFaults(t *testing.T) {
	kit := enginetest.Kit(t)
	if det := New().Detect(t.Context(), kit); !det.Usable {
		t.Skipf("docker is not usable here: %s (try: %s)", det.Reason, det.Fix)
	}
	for _, by := range []string{byAPI, byCLI} {
		t.Run(by, func(t *testing.T) {
			env, err := New().Open(t.Context(), kit, engine.Spec{ID: "faults", Limits: engine.Limits{MemoryBytes: 32 << 20},
				Levels: map[string]string{engine.Client: by, engine.Network: "none", engine.Image: "busybox"}})
			require.NoError(t, err)
			closed := false
			t.Cleanup(func() {
				if err := env.Close(context.Background()); err != nil && !closed {
					t.Errorf("Close: %v", err)
				}
			})
			run := func(task engine.Task) engine.Result {
				res, err := env.Run(t.Context(), task)
				require.NoError(t, err)
				return res
			}
			want := func(what string, res engine.Result, class record.Class) {
				t.Helper()
				if res.Failure == nil || res.Failure.Class != class {
					t.Errorf("%s: failure %+v, want class %s", what, res.Failure, class)
				}
			}
			var args probe.PayloadArgs
			task := newTask(&args)
			task.Argv = []string{"/bin/busybox", "dd", "if=/dev/zero", "of=/dev/null", "bs=100M", "count=1"}
			want("more memory than allowed", run(task), record.OutOfMemory)

			task = newTask(&args)
			task.Argv = []string{"/no/such/program"}
			want("a program that is not there", run(task), record.EngineError)

			heldFaults(t, env.(*environment))

			// Somebody else removes the image between two trials.
			e := env.(*environment)
			require.NoError(t, removeImage(t.Context(), e.d, e.settings.image))
			want("an image that is not there any more", run(newTask(&args)), record.Unavailable)
			if left, err := New().Bearing(t.Context(), kit, kit.RunID); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			for _, l := range engine.OfKind(kit.Ledger.Left(), engine.KindContainer) {
				t.Errorf("the ledger still has the %s", l)
			}
		})
	}
}

// heldFaults: a held container that somebody kills, or the kernel for want of
// memory, ends with a failure that says so.
func heldFaults(t *testing.T, env *environment) {
	t.Helper()
	for _, c := range []struct {
		script string
		want   record.Class
	}{{"echo up; exec sleep 1000", record.Crash}, {"echo up; dd if=/dev/zero of=/dev/null bs=100M count=1", record.OutOfMemory}} {
		var args probe.PayloadArgs
		task := newTask(&args)
		task.Argv = []string{"/bin/busybox", "sh", "-c", c.script}
		h, err := env.Hold(t.Context(), task)
		require.NoError(t, err)
		if c.want == record.Crash {
			if _, err := env.d.ContainerKill(t.Context(), task.Name, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-h.Ended():
		case <-time.After(20 * time.Second):
			t.Error("Ended was not closed")
		}
		res, err := h.End(t.Context(), engine.Stop{Grace: time.Second})
		if err != nil || res.Failure == nil || res.Failure.Class != c.want {
			t.Errorf("held, %q: %v, %+v, want class %s", c.script, err, res.Failure, c.want)
		}
	}
}

// TestLimitsOfGVisor: the sandbox, which is what runs on the host, is limited.
func TestLimitsOfGVisor(t *testing.T) {
	kit := enginetest.Kit(t)
	e := New()
	for _, l := range e.Detect(t.Context(), kit).Levels[engine.Runtime] {
		if l.Name == "runsc" && !l.Usable {
			t.Skip(l.Reason)
		}
	}
	const limit = 200 << 20
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "gvisor", Limits: engine.Limits{MemoryBytes: limit},
		Levels: map[string]string{engine.Runtime: "runsc", engine.Network: "none"}})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = env.Close(context.Background()) })
	args := probe.PayloadArgs{Stay: true}
	task := newTask(&args)
	task.Stop = &engine.Stop{Grace: time.Second}
	over := make(chan engine.Result, 1)
	go func() {
		res, err := env.Run(t.Context(), task)
		if err != nil {
			t.Error(err)
		}
		over <- res
	}()
	got := ""
	for got == "" {
		select {
		case res := <-over:
			t.Fatalf("no cgroup of the sandbox was found while it ran: %+v", res.Failure)
		case <-time.After(5 * time.Millisecond):
		}
		if c, err := env.(*environment).d.ContainerInspect(t.Context(), task.Name, client.ContainerInspectOptions{}); err == nil && c.Container.State.Pid > 0 {
			got = memoryLimit(c.Container.State.Pid)
		}
	}
	if res := <-over; res.Failure != nil {
		t.Error(res.Failure)
	}
	if got != strconv.Itoa(limit) {
		t.Errorf("the sandbox's memory limit is %q, want %d", got, limit)
	}
}

// memoryLimit reads the memory limit of a process's cgroup, v1 or v2.
func memoryLimit(pid int) string {
	groups, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		for _, path := range []string{"/sys/fs/cgroup/memory" + f[2] + "/memory.limit_in_bytes", "/sys/fs/cgroup" + f[2] + "/memory.max"} {
			if data, err := os.ReadFile(path); err == nil && (f[1] == "memory" || f[1] == "") {
				return strings.TrimSpace(string(data))
			}
		}
	}
	return ""
}
