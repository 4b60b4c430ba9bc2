package cri

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/record"
)

// everywhere opens an environment with the busybox image, at every kind of server
// that is there.
func everywhere(t *testing.T, test func(t *testing.T, kit *engine.Kit, env *environment)) {
	for _, endpoint := range []string{containerd, crio} {
		t.Run(endpoint, func(t *testing.T) {
			kit := enginetest.Kit(t)
			opened, err := New().Open(t.Context(), kit, engine.Spec{ID: "test",
				Levels: map[string]string{engine.Endpoint: endpoint, engine.Image: "busybox"}})
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() {
				if err := opened.Close(context.Background()); err != nil {
					t.Error(err)
				}
				if left, err := New().Bearing(context.Background(), kit, kit.RunID); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
				if left := enginetest.Left(kit); len(left) > 0 {
					t.Errorf("left behind: %q", left)
				}
			})
			test(t, kit, opened.(*environment))
		})
	}
}

func shell(kit *engine.Kit, script string, args ...string) engine.Task {
	return engine.Task{Name: adapter.Name(kit.RunID, adapter.Word()[:8]), Limit: 30 * time.Second,
		Argv: append([]string{"/bin/busybox", "sh", "-c", script, "sh"}, args...)}
}

// TestForgotten: what its holder does not end, Close does.
func TestForgotten(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, "echo up; exec /bin/busybox sleep 600")
		task.Mounts = []engine.Mount{{Kind: engine.Tmpfs, Target: "/media"}, {Kind: engine.Volume, Target: "/srv"}}
		h, err := env.Hold(t.Context(), task)
		require.NoError(t, err)
		beside := shell(kit, "echo up; exec /bin/busybox sleep 600")
		beside.Beside = h
		if _, err := env.Hold(t.Context(), beside); err != nil {
			t.Fatal(err)
		}
	})
}

// TestBeside: a container beside another is in its pod, and its end leaves the
// pod as it was.
func TestBeside(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		h, err := env.Hold(t.Context(), shell(kit, "echo up; exec /bin/busybox sleep 600"))
		require.NoError(t, err)
		for range 2 {
			task := shell(kit, "exit 5")
			task.Beside = h
			res, err := env.Run(t.Context(), task)
			if err != nil || res.Failure != nil || *res.Exit != 5 || res.Events[record.Sandbox] != 0 {
				t.Errorf("%v, %+v", err, res)
			}
		}
		r, err := env.s.runtime.ListContainers(t.Context(), &v1.ListContainersRequest{Filter: &v1.ContainerFilter{PodSandboxId: lifeOf(h).pod}})
		if err != nil || len(r.GetContainers()) != 1 || r.GetContainers()[0].GetState() != v1.ContainerState_CONTAINER_RUNNING {
			t.Errorf("the pod has %v, %v", r.GetContainers(), err)
		}
		if res, err := h.End(t.Context(), engine.Stop{Grace: 0}); err != nil || res.Failure != nil {
			t.Errorf("%v, %+v", err, res.Failure)
		}
	})
}

// TestRotation: the log is moved away and opened anew while the container
// writes, and nothing is lost or read twice.
func TestRotation(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, `i=0; while [ $i -lt 400 ]; do echo line $i; echo err $i >&2; i=$((i+1)); /bin/busybox usleep 2000; done`)
		path := filepath.Join(env.settings.logs, task.Name, first.log)
		rotated, over := make(chan int, 1), make(chan struct{})
		go func() {
			n := 0
			for n < 2 {
				select {
				case <-over: // it may have been faster than we
					rotated <- n
					return
				case <-time.After(150 * time.Millisecond):
				}
				if info, err := os.Stat(path); err != nil || info.Size() < 1000 {
					continue
				}
				r, err := env.s.runtime.ListContainers(context.Background(), &v1.ListContainersRequest{Filter: &v1.ContainerFilter{
					LabelSelector: map[string]string{"io.kubernetes.pod.name": task.Name}}})
				if err != nil || len(r.GetContainers()) != 1 || os.Rename(path, path+time.Now().Format(".150405.000")) != nil {
					break
				}
				if _, err := env.s.runtime.ReopenContainerLog(context.Background(), &v1.ReopenContainerLogRequest{ContainerId: r.GetContainers()[0].GetId()}); err != nil {
					t.Errorf("ReopenContainerLog: %v", err)
				}
				n++
			}
			rotated <- n
		}()
		res, err := env.Run(t.Context(), task)
		close(over)
		if err != nil || res.Failure != nil {
			t.Fatalf("%v, %+v", err, res.Failure)
		}
		if n := <-rotated; n == 0 {
			t.Fatal("the log was not rotated")
		}
		for name, c := range map[string]struct{ got, word string }{"stdout": {string(res.Stdout), "line"}, "stderr": {string(res.Stderr), "err"}} {
			lines := strings.Split(strings.TrimSuffix(c.got, "\n"), "\n")
			for i := range 400 {
				if i >= len(lines) || lines[i] != c.word+" "+strconv.Itoa(i) {
					t.Errorf("%s: %d lines, and number %d is not what was written: %.60q", name, len(lines), i, lines[min(i, len(lines)-1)])
					break
				}
			}
		}
	})
}

// TestPollAgainstEvents: where a server has both, they agree: the poll can see
// the end no later than its period after the event, and the other way round
// only what the two ways to us take lies between them.
func TestPollAgainstEvents(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		if env.events == nil {
			t.Skip(env.Facts()["exit"])
		}
		byEvent, err := env.life(shell(kit, "/bin/busybox usleep 300000; exit 5"))
		require.NoError(t, err)
		byPoll := make(chan ended, 1)
		byEvent.watched = func(id string) {
			go func() { p := endPoll{s: env.s, id: id}; byPoll <- p.pollEnd(context.Background()) }()
		}
		res := env.Carry(t.Context(), byEvent)
		if res.Failure != nil {
			t.Fatalf("%+v", res.Failure)
		}
		p := <-byPoll
		if p.err != nil || p.status.GetExitCode() != 5 || *res.Exit != 5 || p.running == 0 {
			t.Fatalf("by poll %+v, by event %v", p, *res.Exit)
		}
		if p.running > res.Events[record.Exit] {
			t.Errorf("a poll saw it running %v after the event of its end", time.Duration(p.running-res.Events[record.Exit]))
		}
		t.Logf("the poll saw the end %v after the event, within a gap of %v", time.Duration(p.at-res.Events[record.Exit]), time.Duration(p.at-p.running))
	})
}

// TestLostEvents: an event that somebody else took is a failure with a name.
func TestLostEvents(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		if env.events == nil {
			t.Skip(env.Facts()["exit"])
		}
		l, err := env.life(shell(kit, "exit 0"))
		require.NoError(t, err)
		l.watched = func(id string) { l.events.forget(id) }
		res := env.Carry(t.Context(), l)
		if res.Failure == nil || res.Failure.Class != record.EngineError || !strings.Contains(res.Failure.Text, "no event") {
			t.Errorf("%+v", res.Failure)
		}
	})
}
