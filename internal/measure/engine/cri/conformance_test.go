package cri

import (
	"errors"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/host/proc"
	"plimsoll/internal/record"
)

// TestConformance puts the adapter through everything, against every kind of
// server that there is. The cases are the same for all.
func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc"}
	for _, endpoint := range []string{containerd, crio} {
		for _, c := range []struct {
			name   string
			levels map[string]string
			opts   enginetest.Options
		}{
			{"runc", map[string]string{engine.Runtime: "runc"}, enginetest.Options{Own: append([]string{"net", "uts"}, own...), Shared: []string{"user"}}},
			{"crun host", map[string]string{engine.Runtime: "crun", engine.Network: "host", engine.Seccomp: "off"},
				enginetest.Options{Own: own, Shared: []string{"net", "uts", "user"}, Only: enginetest.Variant}},
		} {
			t.Run(endpoint+" "+c.name, func(t *testing.T) {
				t.Parallel()
				c.levels[engine.Endpoint] = endpoint
				if endpoint == containerd {
					c.opts.LosesTail = "a shim of containerd's waits for two seconds, after the end, for its output to be logged, line by line"
				}
				enginetest.Conformance(t, New(), c.levels, c.opts)
			})
		}
	}
}

// TestPulls: the same for every kind of server.
func TestPulls(t *testing.T) {
	for _, endpoint := range []string{containerd, crio} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			enginetest.Pulls(t, New(), map[string]string{engine.Endpoint: endpoint}, enginetest.PullOptions{
				NoDisk: "the CRI tells one size of an image, and what the whole store takes"})
		})
	}
}

// TestGVisor: gVisor either works, under its own shim, or is refused in
// good time with a reason, and then nothing of its pod stays behind.
func TestGVisor(t *testing.T) {
	if testing.Short() {
		t.Skip("a pod that hangs takes its whole time limit; left out with -short")
	}
	kit := enginetest.Kit(t)
	e := New()
	levels := map[string]string{engine.Endpoint: containerd, engine.Runtime: "runsc"}
	seen := podsSeen(t, kit)
	began := time.Now()
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "gvisor", Levels: levels})
	took := time.Since(began)
	ours := seen()
	if err == nil {
		t.Logf("gVisor works here: %v", env.Facts())
		if err := env.Close(t.Context()); err != nil {
			t.Error(err)
		}
		enginetest.Conformance(t, e, levels, enginetest.Options{Skip: map[string]string{
			"limits": "the payload is no process of the host's under gVisor"}})
		return
	}
	t.Logf("refused after %v: %v", took.Round(time.Millisecond), err)
	var ee *engine.Error
	if !errors.As(err, &ee) || ee.Class != record.Unavailable {
		t.Errorf("want an error of class %s", record.Unavailable)
	}
	if took > gvisorLimit+removeLimit {
		t.Errorf("it took %v", took)
	}
	left, err := e.Bearing(t.Context(), kit, kit.RunID)
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	// The server tears down what was killed in its own time.
	var rest []string
	for range 100 {
		if rest = processesOf(ours); len(rest) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("left behind: %q", rest)
}

// podsSeen notes the ids of the run's pods and containers, until it is asked for
// them: other tests have pods at the same server.
func podsSeen(t *testing.T, kit *engine.Kit) (seen func() map[string]bool) {
	t.Helper()
	s, err := New().connect(t.Context(), kit, containerd)
	if err != nil {
		t.Skip(err)
	}
	ids, done, gone := map[string]bool{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		defer s.close()
		for {
			pods, _ := s.pods(t.Context(), kit.RunID)
			for _, p := range pods {
				ids[p.GetId()] = true
				all, _ := s.runtime.ListContainers(t.Context(), &v1.ListContainersRequest{Filter: &v1.ContainerFilter{PodSandboxId: p.GetId()}})
				for _, c := range all.GetContainers() {
					ids[c.GetId()] = true
				}
			}
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	return func() map[string]bool {
		close(done)
		<-gone
		t.Logf("%d pods and containers were seen", len(ids))
		return ids
	}
}

// processesOf are the processes of pods and containers, of which they name one.
func processesOf(ids map[string]bool) (lines []string) {
	for _, pid := range proc.Here.PIDs() {
		line := strings.ReplaceAll(commandLine(pid), "\x00", " ")
		if ids[longID.FindString(line)] {
			lines = append(lines, line)
		}
	}
	return lines
}
