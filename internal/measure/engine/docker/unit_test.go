package docker

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/record"
)

func TestGraceSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int{0: 0, time.Millisecond: 1, time.Second: 1, 1500 * time.Millisecond: 2} {
		if got := graceSeconds(engine.Stop{Grace: d}); got != want {
			t.Errorf("%v: %d s, want %d", d, got, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for out, want := range map[string][2]string{
		"runc version 1.1.5+ds1\ncommit: x\n":     {"runc", "1.1.5+ds1"},
		"crun version 1.8.1\n":                    {"crun", "1.8.1"},
		"youki version: 0.5.7\n":                  {"youki", "0.5.7"},
		"runsc version 0.0~20221219.0\nspec: 1\n": {"runsc", "0.0~20221219.0"},
		"": {"", ""},
	} {
		if p, v := adapter.ParseItself(out); p != want[0] || v != want[1] {
			t.Errorf("%q: %q %q", out, p, v)
		}
	}
	if v := cliVersion("Docker version 20.10.24+dfsg1, build 297e128\n"); v != "20.10.24+dfsg1" {
		t.Errorf("got %q", v)
	}
}

func TestRuntimeName(t *testing.T) {
	info := &system.Info{DefaultRuntime: "runc", Runtimes: map[string]system.RuntimeWithStatus{
		"runc":   {Runtime: system.Runtime{Path: "runc"}},
		"gvisor": {Runtime: system.Runtime{Path: "/opt/bin/runsc"}},
		"guests": {Runtime: system.Runtime{Type: "io.containerd.kata.v2"}},
		"vms":    {Runtime: system.Runtime{Type: "io.containerd.kata-clh.v2"}},
	}}
	for level, want := range map[string]string{"default": "runc", "runc": "runc", "runsc": "gvisor", "kata": "guests", "kata-clh": "vms", "kata-fc": "", "crun": ""} {
		if got := runtimeName(info, level); got != want {
			t.Errorf("%s: %q, want %q", level, got, want)
		}
	}
}

// TestClients: both clients say the same to the daemon.
func TestClients(t *testing.T) {
	s := settings{image: "img:tag", runID: "abcd1234", runtime: "crun", network: "none", seccomp: "off",
		limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 30}}
	task := engine.Task{Name: "n", Argv: []string{"/p", "a", "-b"}, Env: []string{"K=V"}}
	got := strings.Join(s.args(task, "--rm"), " ")
	want := "run --rm --name n --label io.plimsoll.run=abcd1234 --pull never --log-driver none --init=false --runtime crun" +
		" --network none --security-opt seccomp=unconfined --cpus 1.5 --memory 1073741824 --memory-swap 1073741824" +
		" --env K=V --entrypoint /p img:tag a -b"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	o := s.options(task)
	h := o.HostConfig
	if o.Name != "n" || o.Config.Labels[engine.Label] != "abcd1234" || h.LogConfig.Type != "none" || *h.Init || h.Runtime != "crun" ||
		h.NetworkMode != "none" || !slices.Equal(h.SecurityOpt, []string{"seccomp=unconfined"}) || h.NanoCPUs != 1500000000 ||
		h.Memory != 1<<30 || h.MemorySwap != 1<<30 || !slices.Equal(o.Config.Env, task.Env) ||
		!slices.Equal(o.Config.Entrypoint, []string{"/p"}) || !slices.Equal(o.Config.Cmd, []string{"a", "-b"}) || o.Config.Image != "img:tag" {
		t.Errorf("options %+v %+v", o.Config, h)
	}
}

// TestJudge: whatever is not as asked for is a wrong component.
func TestJudge(t *testing.T) {
	asked := map[string]string{engine.Runtime: "crun", engine.Network: "none", engine.Storage: "overlay2", engine.Seccomp: "off"}
	right := func() evidence {
		return evidence{
			live: container.InspectResponse{Driver: "overlay2",
				HostConfig: &container.HostConfig{Runtime: "crun", SecurityOpt: []string{"seccomp=unconfined"},
					LogConfig: container.LogConfig{Type: "none"}},
				NetworkSettings: &container.NetworkSettings{Networks: map[string]*network.EndpointSettings{"none": {}}}},
			Seen:    adapter.Seen{Inside: map[string]string{"ns.net": "2", "seccomp": "0", "uname.release": "6.1", "uname.version": "#1"}, Host: adapter.HostState{Kernel: "6.1 #1", Net: "1", Seccomp: "0"}},
			runtime: adapter.Itself{Path: "/usr/bin/crun", Program: "crun"},
		}
	}
	e := right()
	if err := e.judge(engine.Spec{Levels: asked}, "crun"); err != nil {
		t.Fatalf("what is right: %v", err)
	}
	for name, spoil := range map[string]func(*evidence, map[string]string){
		"runtime by the daemon's word": func(e *evidence, _ map[string]string) { e.live.HostConfig.Runtime = "runc" },
		"runtime by its own word":      func(e *evidence, _ map[string]string) { e.runtime.Program = "runc" },
		"kernel":                       func(e *evidence, _ map[string]string) { e.Inside["uname.release"] = "4.4.0" },
		"kernel of gVisor": func(e *evidence, l map[string]string) {
			l[engine.Runtime], e.live.HostConfig.Runtime, e.runtime.Program = "runsc", "crun", "runsc"
		},
		"storage":                  func(e *evidence, _ map[string]string) { e.live.Driver = "vfs" },
		"network by the daemon":    func(e *evidence, _ map[string]string) { e.live.NetworkSettings.Networks = nil },
		"network by the namespace": func(e *evidence, _ map[string]string) { e.Inside["ns.net"] = "1" },
		"seccomp by the daemon":    func(e *evidence, _ map[string]string) { e.live.HostConfig.SecurityOpt = nil },
		"seccomp from inside":      func(e *evidence, _ map[string]string) { e.Inside["seccomp"] = "2" },
		"log driver":               func(e *evidence, _ map[string]string) { e.live.HostConfig.LogConfig.Type = "json-file" },
	} {
		e, levels := right(), maps.Clone(asked)
		spoil(&e, levels)
		var got *engine.Error
		if err := e.judge(engine.Spec{Levels: levels}, "crun"); !errors.As(err, &got) || got.Class != record.WrongComponent {
			t.Errorf("%s: %v, want class %s", name, err, record.WrongComponent)
		}
	}
}

// TestUnreached: a container that has the loopback only is reached by nobody,
// whatever the daemon says; who told the runtime so is named.
func TestUnreached(t *testing.T) {
	info := &system.Info{Runtimes: map[string]system.RuntimeWithStatus{
		"crun": {}, "runsc": {Runtime: system.Runtime{Args: []string{"--platform=ptrace", "--network=none"}}}}}
	for _, c := range []struct{ names, runtime, want string }{
		{"lo,eth0", "runsc", ""}, {"", "runsc", ""}, {"lo", "crun", "but the loopback"}, {"lo", "runsc", "starts runsc with --network=none"},
	} {
		got := unreached(map[string]string{"net.names": c.names}, c.runtime, info)
		if !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestGone(t *testing.T) {
	for err, want := range map[error]bool{
		io.ErrUnexpectedEOF:               true,
		fmt.Errorf("reading: %w", io.EOF): true,
		errors.New("no such image: x"):    false,
	} {
		if gone(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

func TestRemoteHost(t *testing.T) {
	kit := &engine.Kit{Getenv: func(string) string { return "tcp://192.0.2.1:2375" }}
	det := New().Detect(t.Context(), kit)
	if det.Usable || !strings.Contains(det.Reason, "DOCKER_HOST") || det.Fix == "" {
		t.Errorf("a daemon beyond the network: %+v", det)
	}
}
