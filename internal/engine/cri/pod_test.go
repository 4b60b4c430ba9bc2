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

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/clirun"
	"plimsoll/internal/engine/enginetest"
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
				if left, err := New().Leftovers(context.Background(), kit, kit.RunID); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
			test(t, kit, opened.(*environment))
		})
	}
}

func shell(kit *engine.Kit, script string, args ...string) engine.Task {
	return engine.Task{Name: clirun.Name(kit.RunID, clirun.Word()[:8]), Limit: 30 * time.Second,
		Argv: append([]string{"/bin/busybox", "sh", "-c", script, "sh"}, args...)}
}

// TestPair: two pods at once, of which the second is told the first one's
// address, and gets from there a word that it can't know.
func TestPair(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		word := clirun.Word()
		server := shell(kit, `echo up; while true; do echo "$1" | /bin/busybox nc -l -p 7007; done`, word)
		server.Stop = &engine.Stop{}
		address := ""
		served, asked, err := env.RunPair(t.Context(), server, func(a string) engine.Task {
			address = a
			// It may not listen yet when it has said that it is up.
			return shell(kit, `n=0; until /bin/busybox nc -w 5 "$1" 7007; do n=$((n+1)); [ $n -lt 50 ] || exit 1; /bin/busybox sleep 0.1; done`, a)
		})
		if err != nil || served.Failure != nil || asked.Failure != nil {
			t.Fatalf("%v, server %+v, client %+v (stderr %q)", err, served.Failure, asked.Failure, asked.Stderr)
		}
		if address == "" || !strings.Contains(string(asked.Stdout), word) {
			t.Errorf("at the address %q the client was told %q, want %q", address, asked.Stdout, word)
		}
		if string(served.Stdout) != "up\n" || asked.Events[record.Request] < served.Events[record.Ready] ||
			asked.Events[record.Removed] > served.Events[record.Stop] {
			t.Errorf("the client's life is not inside the server's: %v, %v", served.Events, asked.Events)
		}
		t.Logf("address %s", address)
	})
}

// TestPairThatEnds: a server that is gone before it has said anything.
func TestPairThatEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		served, asked, err := env.RunPair(t.Context(), shell(kit, "exit 3"), func(string) engine.Task {
			t.Error("the client was started")
			return engine.Task{}
		})
		if err != nil || served.Failure == nil || asked.Failure == nil || asked.Failure.Class != record.Crash {
			t.Errorf("%v, server %+v, client %+v", err, served.Failure, asked.Failure)
		}
	})
}

// TestRotation: the log is moved away and opened anew while the container
// writes, and nothing is lost or read twice.
func TestRotation(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, `i=0; while [ $i -lt 400 ]; do echo line $i; echo err $i >&2; i=$((i+1)); /bin/busybox usleep 2000; done`)
		path := filepath.Join(env.settings.logs, task.Name, logName)
		rotated := make(chan int, 1)
		go func() {
			n := 0
			for n < 2 {
				time.Sleep(150 * time.Millisecond)
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
		byEvent := env.life(shell(kit, "/bin/busybox usleep 300000; exit 5"))
		byPoll := make(chan ended, 1)
		byEvent.watched = func(id string) { go func() { byPoll <- env.s.pollEnd(context.Background(), id) }() }
		res, left := byEvent.run(t.Context())
		if res.Failure != nil || left {
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
		l := env.life(shell(kit, "exit 0"))
		l.watched = func(id string) { l.events.forget(id) }
		res, left := l.run(t.Context())
		if left || res.Failure == nil || res.Failure.Class != record.EngineError || !strings.Contains(res.Failure.Text, "no event") {
			t.Errorf("%+v", res.Failure)
		}
	})
}

// TestLeftovers: what a killed run left is found by its label and removed.
func TestLeftovers(t *testing.T) {
	everywhere(t, func(t *testing.T, kit *engine.Kit, env *environment) {
		task := shell(kit, "trap '' TERM; while true; do /bin/busybox sleep 1; done")
		if _, err := env.serve(t.Context(), task); err != nil {
			t.Fatal(err)
		}
		e := New() // as the next process has it
		if left, err := e.Leftovers(t.Context(), kit, "nosuchid"); err != nil || len(left) != 0 {
			t.Errorf("another run's: %v, %v", left, err)
		}
		left, err := e.Leftovers(t.Context(), kit, kit.RunID)
		if err != nil || len(left) != 2 || left[0].Kind != "pod" || left[1].Kind != "image" {
			t.Fatalf("found %v, %v, want a pod and an image", left, err)
		}
		for _, l := range left {
			if err := l.Remove(t.Context()); err != nil {
				t.Errorf("removing the %s %s: %v", l.Kind, l.Name, err)
			}
		}
	})
}
