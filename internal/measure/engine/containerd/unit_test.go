package containerd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/containerd/containerd/v2/core/containers"
	"github.com/containerd/containerd/v2/pkg/namespaces"
	"github.com/containerd/containerd/v2/pkg/oci"
	specs "github.com/opencontainers/runtime-spec/specs-go"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/record"
)

func contains(b []byte, word string) bool { return bytes.Contains(b, []byte(word)) }

// TestJudge: whatever is not as asked for is a wrong component.
func TestJudge(t *testing.T) {
	asked := map[string]string{engine.Runtime: "crun", engine.Network: "none", engine.Storage: "native", engine.Seccomp: "off"}
	shim := "io.containerd.runc.v2"
	right := func() *evidence {
		return &evidence{
			live:  containers.Container{Runtime: containers.RuntimeInfo{Name: shim}, Snapshotter: "native"},
			spec:  &oci.Spec{Process: &specs.Process{}, Linux: &specs.Linux{}},
			state: "crun",
			Seen: adapter.Seen{Inside: map[string]string{"ns.net": "2", "seccomp": "0", "uname.release": "6.1", "uname.version": "#1",
				"root.fs": "ext4"}, Host: adapter.HostState{Kernel: "6.1 #1", Net: "1", Seccomp: "0"}},
			runtime: adapter.Itself{Path: "/usr/bin/crun", Program: "crun"},
		}
	}
	want := ociRuntime{level: "crun", shim: shim}
	if err := right().judge(engine.Spec{Levels: asked}, want); err != nil {
		t.Fatalf("what is right: %v", err)
	}
	for name, spoil := range map[string]func(*evidence, map[string]string, *ociRuntime){
		"shim":                  func(e *evidence, _ map[string]string, _ *ociRuntime) { e.live.Runtime.Name = "io.containerd.kata.v2" },
		"runtime by its word":   func(e *evidence, _ map[string]string, _ *ociRuntime) { e.runtime.Program = "runc" },
		"runtime by its state":  func(e *evidence, _ map[string]string, _ *ociRuntime) { e.state = "runc" },
		"kernel":                func(e *evidence, _ map[string]string, _ *ociRuntime) { e.Inside["uname.release"] = "4.4.0" },
		"kernel of gVisor":      func(_ *evidence, _ map[string]string, r *ociRuntime) { r.foreign = true },
		"snapshotter":           func(e *evidence, _ map[string]string, _ *ociRuntime) { e.live.Snapshotter = "overlayfs" },
		"an overlay inside":     func(e *evidence, _ map[string]string, _ *ociRuntime) { e.Inside["root.fs"] = "overlay" },
		"network":               func(e *evidence, _ map[string]string, _ *ociRuntime) { e.Inside["ns.net"] = "1" },
		"network of its own":    func(_ *evidence, l map[string]string, _ *ociRuntime) { l[engine.Network] = "host" },
		"seccomp":               func(e *evidence, _ map[string]string, _ *ociRuntime) { e.Inside["seccomp"] = "2" },
		"no seccomp by default": func(_ *evidence, l map[string]string, _ *ociRuntime) { delete(l, engine.Seccomp) },
	} {
		e, levels, r := right(), maps.Clone(asked), want
		spoil(e, levels, &r)
		var got *engine.Error
		if err := e.judge(engine.Spec{Levels: levels}, r); !errors.As(err, &got) || got.Class != record.WrongComponent {
			t.Errorf("%s: %v, want class %s", name, err, record.WrongComponent)
		}
	}
}

// TestSpec: the configuration is what docker's would be.
func TestSpec(t *testing.T) {
	s := settings{imageEnv: []string{"PATH=/bin", "A=1"}, limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 30}, swapToo: true}
	task := engine.Task{Name: "plimsoll-x", Argv: []string{"/p", "a"}, Env: []string{"A=2"}}
	ctx := namespaces.WithNamespace(t.Context(), Namespace(""))
	spec := generate(t, ctx, &s, task)
	if spec.Version != specVersion || spec.Process.NoNewPrivileges || spec.Process.Rlimits != nil || spec.Linux.Seccomp == nil {
		t.Errorf("%+v", spec)
	}
	if !slices.Equal(spec.Process.Args, task.Argv) || !slices.Equal(spec.Process.Env, []string{"PATH=/bin", "A=2"}) {
		t.Errorf("args %v, env %v", spec.Process.Args, spec.Process.Env)
	}
	r := spec.Linux.Resources
	if *r.Memory.Limit != 1<<30 || *r.Memory.Swap != 1<<30 || *r.CPU.Quota != 150_000 || *r.CPU.Period != 100_000 {
		t.Errorf("limits %+v %+v", r.Memory, r.CPU)
	}
	if spec.Linux.CgroupsPath != "/plimsoll-x" || len(spec.Linux.Namespaces) != 5 {
		t.Errorf("cgroup %s, namespaces %v", spec.Linux.CgroupsPath, spec.Linux.Namespaces)
	}
	var mounts []string
	for _, m := range spec.Mounts {
		mounts = append(mounts, m.Destination)
	}
	slices.Sort(mounts)
	if want := []string{"/dev", "/dev/mqueue", "/dev/pts", "/dev/shm", "/proc", "/sys", "/sys/fs/cgroup"}; !slices.Equal(mounts, want) {
		t.Errorf("mounts %v, want %v", mounts, want)
	}
	s = settings{hostNet: true, seccompOff: true, systemd: true, cgroupNS: true}
	spec = generate(t, ctx, &s, task)
	if spec.Linux.Seccomp != nil || spec.Linux.CgroupsPath != "system.slice:plimsoll:plimsoll-x" || spec.Linux.Resources.Memory != nil {
		t.Errorf("%+v", spec.Linux)
	}
	for _, ns := range spec.Linux.Namespaces {
		if ns.Type == specs.NetworkNamespace {
			t.Error("a network namespace of its own, though the host's was asked for")
		}
	}
}

func generate(t *testing.T, ctx context.Context, s *settings, task engine.Task) *oci.Spec {
	t.Helper()
	spec, err := oci.GenerateSpec(ctx, nil, &containers.Container{ID: task.Name}, s.spec(task)...)
	require.NoError(t, err)
	return spec
}

func TestStateBelow(t *testing.T) {
	for want, files := range map[string][]string{
		"runc": {"c/state.json"}, "crun": {"c/status", "c/config.json"}, "youki": {"c/state.json", "c/youki_config.json"},
		"runsc": {"c_sandbox:c.state"}, "": {"other/state.json"},
	} {
		root := t.TempDir()
		for _, f := range files {
			path := filepath.Join(root, f)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		}
		if got := stateBelow(root, "c"); got != want {
			t.Errorf("%v: %q, want %q", files, got, want)
		}
	}
}

func TestSignalFailure(t *testing.T) {
	for _, c := range []struct {
		status         int
		stopped, fails bool
	}{{0, false, false}, {7, false, false}, {137, false, true}, {139, false, true}, {137, true, false}, {143, true, false}, {139, true, true}, {255, false, false}} {
		if f := adapter.SignalFailure(c.status, c.stopped); (f != nil) != c.fails {
			t.Errorf("status %d, stopped %v: %+v", c.status, c.stopped, f)
		}
	}
}

func TestParseAnswer(t *testing.T) {
	for line, want := range map[string]int64{
		"plimsoll 1 word first 12": 12, "plimsoll at 34": 34, "plimsoll 1 word done 5": 0, "hello": 0, "plimsoll at x": 0,
	} {
		if got, ok := parseAnswer(line); got != want || ok != (want != 0) {
			t.Errorf("%q: %d, %v", line, got, ok)
		}
	}
}

// A program whose start is answered too late runs, and its output does not end:
// whoever waits for that end, as the client does, waits until the time is up.
func TestLateStart(t *testing.T) {
	kit := kittest.Bare(t)
	f, err := openFIFOs(kit, "late", nil, io.Discard, io.Discard)
	require.NoError(t, err)
	w, err := os.OpenFile(f.config.Stdout, os.O_WRONLY, 0)
	require.NoError(t, err)
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	settled := f.within(ctx)
	select {
	case <-f.Done:
		t.Fatal("reading has stopped by itself")
	case <-time.After(50 * time.Millisecond):
	}
	cancel()
	f.Wait()
	settled()
	if err := f.Close(); err != nil {
		t.Error(err)
	}

	// One that has started is read to its end, whatever becomes of the context.
	if f, err = openFIFOs(kit, "started", nil, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	f.within(ctx)()
	cancel()
	select {
	case <-f.Done:
		t.Error("reading has stopped although the program has started")
	case <-time.After(50 * time.Millisecond):
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}
