package cri

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	v1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/imagetest"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/record"
)

// scripted is a server for what a real one can't be made to say.
type scripted struct {
	v1.UnimplementedRuntimeServiceServer
	v1.UnimplementedImageServiceServer
	name       string
	conditions []*v1.RuntimeCondition
	info       map[string]string
	handlers   []*v1.RuntimeHandler
	pull       error
}

func (s *scripted) Version(context.Context, *v1.VersionRequest) (*v1.VersionResponse, error) {
	return &v1.VersionResponse{RuntimeName: s.name, RuntimeVersion: "1.2.3", RuntimeApiVersion: "v1"}, nil
}

func (s *scripted) Status(context.Context, *v1.StatusRequest) (*v1.StatusResponse, error) {
	return &v1.StatusResponse{Status: &v1.RuntimeStatus{Conditions: s.conditions}, Info: s.info, RuntimeHandlers: s.handlers}, nil
}

func (s *scripted) PullImage(context.Context, *v1.PullImageRequest) (*v1.PullImageResponse, error) {
	return nil, s.pull
}

func (s *scripted) ImageStatus(context.Context, *v1.ImageStatusRequest) (*v1.ImageStatusResponse, error) {
	return &v1.ImageStatusResponse{}, nil
}

func (s *scripted) RemoveImage(context.Context, *v1.RemoveImageRequest) (*v1.RemoveImageResponse, error) {
	return &v1.RemoveImageResponse{}, nil
}

func (s *scripted) ListPodSandbox(context.Context, *v1.ListPodSandboxRequest) (*v1.ListPodSandboxResponse, error) {
	return &v1.ListPodSandboxResponse{}, nil
}

// start serves at a socket of the test's and gives an engine that looks there
// only.
func (s *scripted) start(t *testing.T) *Engine {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	g := grpc.NewServer()
	v1.RegisterRuntimeServiceServer(g, s)
	v1.RegisterImageServiceServer(g, s)
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	e := New()
	e.sockets = []string{path}
	return e
}

func condition(name string, ok bool, reason, message string) *v1.RuntimeCondition {
	return &v1.RuntimeCondition{Type: name, Status: ok, Reason: reason, Message: message}
}

func ready() []*v1.RuntimeCondition {
	return []*v1.RuntimeCondition{condition("RuntimeReady", true, "", ""), condition("NetworkReady", true, "", "")}
}

func noNetwork() []*v1.RuntimeCondition {
	return []*v1.RuntimeCondition{condition("RuntimeReady", true, "", ""),
		condition("NetworkReady", false, "NetworkPluginNotReady", "cni plugin not initialized")}
}

func levelOf(d engine.Detection, factor, name string) engine.Level {
	for _, l := range d.Levels[factor] {
		if l.Name == name {
			return l
		}
	}
	return engine.Level{}
}

func TestRuntimeNotReady(t *testing.T) {
	kit := imagetest.Kit(t)
	s := &scripted{name: "containerd", conditions: []*v1.RuntimeCondition{condition("RuntimeReady", false, "ShimGone", "no shim")}}
	e := s.start(t)
	if d := e.Detect(t.Context(), kit); d.Usable || !strings.Contains(d.Reason, "RuntimeReady is false: ShimGone: no shim") {
		t.Errorf("Detect: %+v", d)
	}
	refused(t, e, kit, nil, record.Unavailable, "ShimGone")
	s.conditions = nil
	refused(t, e, kit, nil, record.Unavailable, "says nothing about the condition RuntimeReady")
}

// TestNetworkNotReady: pods on the host's network need no CNI.
func TestNetworkNotReady(t *testing.T) {
	kit := imagetest.Kit(t)
	s := &scripted{name: "cri-o", conditions: noNetwork(), pull: errors.New("come so far")}
	e := s.start(t)
	d := e.Detect(t.Context(), kit)
	if l := levelOf(d, engine.Network, engine.DefaultLevel); !d.Usable || l.Usable || !strings.Contains(l.Reason, "cni plugin not initialized") {
		t.Errorf("Detect: %+v", d)
	}
	if l := levelOf(d, engine.Network, "host"); !l.Usable {
		t.Errorf("network host: %+v", l)
	}
	refused(t, e, kit, nil, record.Unavailable, "cni plugin not initialized")
	refused(t, e, kit, map[string]string{engine.Network: "host"}, record.EngineError, "come so far")
	refused(t, e, kit, map[string]string{engine.Network: "none"}, record.Unsupported, "does not know")
}

// TestPullRefused: a server that wants TLS on loopback is told from others.
func TestPullRefused(t *testing.T) {
	kit := imagetest.Kit(t)
	s := &scripted{name: "cri-o", conditions: ready()}
	s.pull = errors.New(`pinging container registry 127.0.0.1:5000: Get "https://127.0.0.1:5000/v2/": http: server gave HTTP response to HTTPS client`)
	e := s.start(t)
	err := refused(t, e, kit, nil, record.Unavailable, "asks a registry on loopback for TLS")
	if _, fix := engine.Reason(err); !strings.Contains(fix, "insecure = true") {
		t.Errorf("what helps is not said: %v", err)
	}
}

// TestHandlers: runtimes are found by the names and the programs that servers
// give, whatever form the answer has.
func TestHandlers(t *testing.T) {
	kit := imagetest.Kit(t)
	config := `{"containerd": {"defaultRuntimeName": "runc", "runtimes": {
		"runc": {"runtimeType": "io.containerd.runc.v2", "options": {"BinaryName": "", "SystemdCgroup": true}},
		"mine": {"runtimeType": "io.containerd.runc.v2", "options": {"BinaryName": "/opt/crun"}},
		"gvisor": {"runtimeType": "io.containerd.runsc.v1"}, "kata-fc": {"runtimeType": "io.containerd.kata.v2"}}},
		"sandboxImage": "registry.k8s.io/pause:3.9"}`
	for _, c := range []struct {
		name   string
		server scripted
		want   map[string]string // level: handler, or "" where there is none
	}{
		{"containerd", scripted{info: map[string]string{"config": config}},
			map[string]string{"runc": "runc", "crun": "mine", "runsc": "gvisor", "kata": "kata-fc", "kata-fc": "kata-fc", "kata-qemu": "", "youki": ""}},
		{"by the interface", scripted{handlers: []*v1.RuntimeHandler{{Name: ""}, {Name: "kata-clh"}, {Name: "crun"}}},
			map[string]string{"kata": "kata-clh", "kata-clh": "kata-clh", "crun": "crun", "runc": ""}},
		{"none is told", scripted{info: map[string]string{"config": "not JSON"}},
			map[string]string{"runc": "runc", "runsc": "runsc", "kata": "kata"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.server.name, c.server.conditions = "containerd", ready()
			e := c.server.start(t)
			s, err := e.connect(t.Context(), kit, engine.DefaultLevel)
			require.NoError(t, err)
			defer s.close()
			st, err := s.ask(t.Context())
			require.NoError(t, err)
			d := e.Detect(t.Context(), kit)
			for level, want := range c.want {
				if got, err := st.handlerFor(level); got != want || (err == nil) != (want != "") {
					t.Errorf("%s: handler %q, %v; want %q", level, got, err, want)
				}
				if l := levelOf(d, engine.Runtime, level); l.Usable != (want != "") || l.Usable == (l.Reason != "") {
					t.Errorf("Detect: %+v", l)
				}
			}
			if c.name == "containerd" && (st.driver != "systemd" || st.handlers["runc"].Path != "runc" || st.sandbox == "") {
				t.Errorf("%+v", st)
			}
		})
	}
}

// TestNobody: what was tried is said; what is no CRI server is told from one.
func TestNobody(t *testing.T) {
	kit := imagetest.Kit(t)
	e := New()
	e.sockets = []string{"/no/such/socket"}
	if d := e.Detect(t.Context(), kit); d.Usable || !strings.Contains(d.Reason, "/no/such/socket") || d.Fix == "" {
		t.Errorf("no socket: %+v", d)
	}
	if removed, kept := engine.Sweep(t.Context(), kit, e); len(removed)+len(kept) > 0 {
		t.Errorf("an empty ledger: removed %v, kept %v", removed, kept)
	}
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	require.NoError(t, err)
	g := grpc.NewServer() // as a containerd whose plug-in is switched off
	go func() { _ = g.Serve(l) }()
	t.Cleanup(g.Stop)
	e.sockets = []string{path}
	refused(t, e, kit, nil, record.Unavailable, "disabled in its configuration")
	// Neither there nor without a socket can be told what is left.
	unreached := *kit
	unreached.Ledger = &kittest.Ledger{}
	for _, at := range []string{path, "/no/such/socket"} {
		_ = unreached.Ledger.Made((&server{path: at}).thing(engine.KindContainer, "plimsoll-"+kit.RunID+"-1"))
	}
	removed, kept := engine.Sweep(t.Context(), &unreached, New())
	if len(removed) > 0 || len(kept) != 2 || kept[0].Fix == "" || len(unreached.Ledger.Left()) != 2 {
		t.Errorf("removed %v, kept %+v", removed, kept)
	}
	s := &scripted{name: "something", conditions: ready()}
	refused(t, s.start(t), kit, map[string]string{engine.Endpoint: crio}, record.Unavailable, "is something")

	mine := *kit
	for value, want := range map[string]string{"tcp://127.0.0.1:1": "Unix socket", "unix:///no/such/socket": "/no/such/socket"} {
		mine.Getenv = func(name string) string {
			if name == variable {
				return value
			}
			return ""
		}
		if d := New().Detect(t.Context(), &mine); d.Usable || !strings.Contains(d.Reason, want) {
			t.Errorf("%s=%s: %+v", variable, value, d)
		}
	}
}

// refused: Open fails with this class and these words.
func refused(t *testing.T, e *Engine, kit *engine.Kit, levels map[string]string, class record.Class, words string) error {
	t.Helper()
	env, err := e.Open(t.Context(), kit, engine.Spec{ID: "refused", Levels: levels})
	if err == nil {
		_ = env.Close(t.Context())
		t.Fatalf("Open with %v: no error", levels)
	}
	var ee *engine.Error
	if !errors.As(err, &ee) || ee.Class != class || !strings.Contains(err.Error(), words) {
		t.Errorf("Open with %v: %v; want class %s and %q", levels, err, class, words)
	}
	return err
}
