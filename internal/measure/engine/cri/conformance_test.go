package cri

import (
	"errors"
	"strings"
	"testing"
	"time"

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

// TestGVisor: gVisor either works, under a shim of its own, or is refused in
// good time with a reason, and then nothing of its pod stays behind.
func TestGVisor(t *testing.T) {
	if testing.Short() {
		t.Skip("a pod that hangs takes its whole time limit; left out with -short")
	}
	kit := enginetest.Kit(t)
	e := New()
	levels := map[string]string{engine.Endpoint: containerd, engine.Runtime: "runsc"}
	before := podProcesses()
	began := time.Now()
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "gvisor", Levels: levels})
	took := time.Since(began)
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
		rest = rest[:0]
		for id, line := range podProcesses() {
			if before[id] == "" {
				rest = append(rest, line)
			}
		}
		if len(rest) == 0 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("left behind: %q", rest)
}

// podProcesses are the processes of containerd's pods, by the pods' and
// containers' ids.
func podProcesses() map[string]string {
	found := map[string]string{}
	for _, pid := range proc.Here.PIDs() {
		line := strings.ReplaceAll(commandLine(pid), "\x00", " ")
		if id := longID.FindString(line); id != "" && strings.Contains(line, "k8s.io") {
			found[id] = line
		}
	}
	return found
}
