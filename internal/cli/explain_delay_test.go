//go:build linux

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/containerd"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/oci"
	"plimsoll/internal/measure/probe"
	"plimsoll/internal/understand/timeline"
)

// pauses sums the time that programs of this name spent in a pause of their own
// making.
func pauses(s *timeline.Step, program string, inside bool) (ns int64) {
	if !s.Cause {
		inside = strings.Contains(s.Name, program)
	}
	if s.Cause && inside && strings.Contains(s.Name, "a pause that it makes itself") {
		ns += s.NS
	}
	for _, b := range s.Steps {
		ns += pauses(b, program, inside)
	}
	return ns
}

// TestExplainFindsDelays: a runtime that sleeps before its create or its start is
// found to do so: at that step, by that size, by that name.
func TestExplainFindsDelays(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real containers: left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	crun, err := exec.LookPath("crun")
	if err != nil {
		t.Skip("crun is not installed: the lab has it (lab/setup)")
	}
	for _, c := range []struct {
		verb string
		ms   float64
	}{{"create", 40}, {"start", 60}} {
		dir := t.TempDir()
		slow := slowed(t, dir, "crun", c.ms, c.verb, crun)
		finds(t, dir, hereAsItIs, oci.New(oci.WithRuntime("crun", slow)), []string{"oci", "runtime=crun", "client=steps"}, "crun "+c.verb, c.ms)
	}
}

// TestExplainFindsSlowNetwork: a CNI plug-in that sleeps when it is called is found to
// do so, below the engine's network.
func TestExplainFindsSlowNetwork(t *testing.T) {
	kit := enginetest.Kit(t)
	if os.Geteuid() != 0 {
		t.Skip("following what the kernel does needs root")
	}
	if d := containerd.New().Detect(t.Context(), kit); !d.Usable {
		t.Skip("containerd does not run here (lab/up starts one): " + d.Reason)
	}
	w := otherHostLocal(t, func(dir, path string) { slowed(t, dir, "host-local", 100, "-", path) })
	finds(t, t.TempDir(), w, containerd.New(), []string{"containerd"}, "host-local", 100)
}

// otherHostLocal is a world whose CNI plug-ins are the machine's, but for host-local: put
// puts another one into their directory, for the one of a path.
func otherHostLocal(t *testing.T, put func(dir, path string)) World {
	t.Helper()
	const plugins, other = "/usr/lib/cni", "host-local"
	all, err := os.ReadDir(plugins)
	if err != nil {
		t.Skip("the CNI plug-ins are not in " + plugins + ": the lab has them (lab/setup)")
	}
	dir := t.TempDir()
	for _, p := range all {
		if p.Name() != other {
			require.NoError(t, os.Symlink(filepath.Join(plugins, p.Name()), filepath.Join(dir, p.Name())))
		}
	}
	put(dir, filepath.Join(plugins, other))
	return World{LookPath: exec.LookPath, Getenv: func(name string) string {
		if name == "CNI_PATH" {
			return dir
		}
		return os.Getenv(name)
	}}
}

// slowed puts a program into a directory that sleeps so long, if it is given the
// argument ("-": always), and then becomes the one of another path.
func slowed(t *testing.T, dir, name string, ms float64, argument, program string) string {
	t.Helper()
	slow := filepath.Join(dir, name)
	if err := os.WriteFile(slow, probe.Binary(), 0o755); err != nil { //nolint:gosec // it is executed
		t.Fatal(err)
	}
	conf := strings.Join([]string{jsonNumber(ms * 1e6), argument, program}, " ")
	require.NoError(t, os.WriteFile(slow+".delay", []byte(conf+"\n"), 0o600))
	return slow
}

// finds explains an environment whose program sleeps so long. Each time the pause is
// what it is told to be there, and what it is said to be elsewhere is nothing beside it:
// others that keep the processors busy, or a hypervisor that takes them away, begin it
// late or end it late by some milliseconds. In one of three the size is right as well,
// nothing at all is elsewhere, and little has no cause with a name.
func finds(t *testing.T, state string, like World, e engine.Engine, env []string, program string, ms float64) {
	t.Helper()
	var why string
	for range 3 {
		x := explained(t, state, like, e, env)
		got, all := float64(pauses(x.Tree, program, false))/1e6, float64(pauses(x.Tree, "", false))/1e6
		said := fmt.Sprintf("%g ms in %s: %g ms of pauses are seen there, %g in all", ms, program, got, all)
		if got < 0.5*ms || got > 1.5*ms || all-got > 0.2*ms {
			tree, _ := json.MarshalIndent(x.Tree, "", " ")
			t.Errorf("%s: %s", said, tree)
		}
		// It sleeps until so long after its first instruction, some of which passes before.
		if why = unnamed(x); got < 0.85*ms || got > ms+0.5 || all-got > 0.5 {
			why = said
		}
		if why == "" {
			return
		}
		t.Log(why)
	}
	t.Error(why)
}

// explained explains an environment, or a command after --, of six starts where it names
// no other number; e is the environment's engine.
func explained(t *testing.T, state string, like World, e engine.Engine, env []string) *timeline.Explanation {
	t.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"explain", "--starts", "6", "--format", "json", "--progress", "none", "--wait"}, env...)
	var engines []engine.Engine
	if e != nil {
		engines = append(engines, e)
	}
	w := within(offline(state, engines, &out, &errs, args...), like)
	if status := Main(w); status != int(Done) {
		t.Fatalf("status %d: %s", status, errs.String())
	}
	var x timeline.Explanation
	require.NoError(t, json.Unmarshal(out.Bytes(), &x))
	return &x
}

// within is a world that finds its programs, and what it does not set itself, as another does.
func within(w, like World) World {
	w.LookPath = like.LookPath
	own := w.Getenv
	w.Getenv = func(name string) string {
		if v := own(name); v != "" {
			return v
		}
		return like.Getenv(name)
	}
	return w
}

func jsonNumber(v float64) string {
	b, _ := json.Marshal(int64(v))
	return string(b)
}
