package portable

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/pkg/authconfig"
	"github.com/moby/moby/api/types/registry"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	runtimev1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/image"
	"plimsoll/internal/record"
)

// A server's endpoint is a Unix socket, one that is forwarded too, or an address of TCP.
func TestFindCRI(t *testing.T) {
	for _, c := range []struct{ value, system, host, kind, wrong string }{
		{"unix:///run/containerd/containerd.sock", "linux", "unix:///run/containerd/containerd.sock", bySocket, ""},
		{"/tmp/cri.sock", "darwin", "unix:///tmp/cri.sock", bySocket, ""},
		{"tcp://localhost:4000", "windows", "tcp://localhost:4000", byPlain, ""},
		{"ssh://board", "linux", "", "", "ssh -N -L"},
		{"npipe:////./pipe/containerd-containerd", "windows", "", "", "expected unix:///PATH or tcp://HOST:PORT"},
		{"tcp://", "linux", "", "", "tcp://HOST:PORT"},
		{"", "windows", "", "", "is not set"},
	} {
		s := Surroundings{Getenv: func(name string) string { return map[string]string{criVariable: c.value}[name] },
			LookPath: func(string) (string, error) { return "", os.ErrNotExist }, Home: t.TempDir(), System: c.system}
		a, err := s.Find(CRI)
		switch {
		case (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong):
			t.Errorf("%q on %s: %v, want %q in it", c.value, c.system, err, c.wrong)
		case err == nil && (!strings.HasPrefix(a.Host, c.host) || a.Kind() != c.kind):
			t.Errorf("%q on %s: %+v by %s", c.value, c.system, a, a.Kind())
		}
	}
}

// Where nobody has named an endpoint, the first usual place at which something is counts;
// where there is nothing, that is said, and how another machine's is reached.
func TestUsualCRI(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.sock"), filepath.Join(dir, "second.sock")
	s := Surroundings{System: "linux"}
	_, err := s.usualCRI(first, second)
	if reason, fix := engine.Reason(err); err == nil || reason != criVariable+" is not set, and there is neither "+first+" nor "+second || fix != forwardFix {
		t.Errorf("%v, with the fix %q", err, fix)
	}
	require.NoError(t, os.WriteFile(second, nil, 0o600))
	a, err := s.usualCRI(first, second)
	if err != nil || a.Host != "unix://"+second || a.Kind() != bySocket {
		t.Errorf("%+v, %v", a, err)
	}
}

// What gRPC puts around the reason is left out.
func TestWrongCRI(t *testing.T) {
	a := Address{Engine: CRI, Host: "unix://" + filepath.Join(t.TempDir(), "no.sock"), From: criVariable}
	s, err := a.connectCRI("")
	require.NoError(t, err)
	defer func() { _ = s.Close() }() // nothing was asked
	_, err = s.greet(t.Context())
	if reason, _ := engine.Reason(err); !strings.HasSuffix(reason, "no such file or directory") || strings.Contains(reason, "desc =") {
		t.Errorf("%q", reason)
	}
}

// What the CRI does not tell is left out with the reason.
func TestOffersCRI(t *testing.T) {
	f := &Found{Engine: CRI, Where: "unix:///x", Facts: map[string]string{"endpoint": "containerd"}, handlers: []string{"runc", "crun"}}
	for level, want := range map[[2]string]string{
		{engine.Network, "host"}: "", {engine.Network, "none"}: "it does not know", {engine.Endpoint, "containerd"}: "", {engine.Endpoint, "crio"}: "is containerd",
		{engine.Runtime, "crun"}: "", {engine.Runtime, "youki"}: "it has runc, crun", {engine.Storage, "overlayfs"}: "does not tell", {engine.Image, "busybox"}: "no archive",
		{engine.Rootless, "no"}: "", {engine.Seccomp, "off"}: "",
	} {
		if reason, _ := f.offers(level[0], level[1], &Images{}); (want == "") != (reason == "") || !strings.Contains(reason, want) {
			t.Errorf("%v: %q, want %q", level, reason, want)
		}
	}
	if endpointOf("cri-o") != "crio" || endpointOf("containerd") != "containerd" {
		t.Error("a server's name is no level")
	}
	cri, docker := &record.Environment{Engine: CRI}, &record.Environment{Engine: Docker}
	for name, can := range map[string]bool{"hello": false, "stop": true, "exec": true, "pull": true, "sysbench-cpu": false} {
		w := &record.Workload{Name: name}
		if why := noCRI(cri, w); (why == "") != can {
			t.Errorf("%s by the CRI: %q", name, why)
		}
		if why := noCRI(docker, w); why != "" {
			t.Errorf("%s by Docker: %q", name, why)
		}
	}
}

// A tag is parted from a reference whose registry has a port.
func TestCutTag(t *testing.T) {
	for ref, want := range map[string][2]string{
		"127.0.0.1:5000/plimsoll/x:ab12": {"127.0.0.1:5000/plimsoll/x", "ab12"}, "127.0.0.1:5000/x": {"127.0.0.1:5000/x", ""}, "x": {"x", ""},
	} {
		if repo, tag := cutTag(ref); repo != want[0] || tag != want[1] {
			t.Errorf("%s: %s, %s", ref, repo, tag)
		}
	}
}

// Credentials name no server, and go to no other machine unencrypted.
func TestAuthOf(t *testing.T) {
	encoded, err := authconfig.Encode(registry.AuthConfig{Username: "me", Password: "secret", ServerAddress: "10.0.0.3:5000"})
	require.NoError(t, err)
	for host, sent := range map[string]bool{"unix:///tmp/cri.sock": true, "tcp://localhost:4000": true, "tcp://127.0.0.1:4000": true, "tcp://[::1]:4000": true,
		"tcp://10.0.0.3:4000": false, "tcp://localhost.example:4000": false} {
		a, err := Address{Engine: CRI, Host: host}.authOf(encoded)
		switch {
		case !sent:
			if _, fix := engine.Reason(err); err == nil || fix != forwardFix || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v, %v", host, a, err)
			}
		case err != nil || a.GetUsername() != "me" || a.GetPassword() != "secret" || a.GetServerAddress() != "":
			t.Errorf("%s: %v, %v", host, a, err)
		}
	}
}

// A server's way of writing a name is no other name; one of somebody else's is.
func TestForeignName(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("a", 64)
	for _, c := range []struct {
		ref   string
		names []string
		want  string
	}{
		{"index.docker.io/me/scratch:ab12-payload", []string{"docker.io/me/scratch:ab12-payload", "docker.io/me/scratch" + digest}, ""},
		{"docker.io/me/scratch:ab12-payload", []string{"me/scratch:ab12-payload"}, ""},
		{"index.docker.io/library/scratch:ab12", []string{"docker.io/library/scratch:ab12"}, ""},
		{"127.0.0.1:5000/plimsoll/x:ab12", []string{"127.0.0.1:5000/plimsoll/x:ab12", "127.0.0.1:5000/plimsoll/x" + digest}, ""},
		{"127.0.0.1:5000/plimsoll/x:ab12", nil, ""},
		{"index.docker.io/me/scratch:ab12", []string{"docker.io/me/scratch:mine"}, "docker.io/me/scratch:mine"},
		{"127.0.0.1:5000/x:ab12", []string{"127.0.0.1:5000/x:ab12", "docker.io/library/x:ab12"}, "docker.io/library/x:ab12"},
		{"127.0.0.1:5000/x:ab12", []string{"127.0.0.1:5000/y" + digest}, "127.0.0.1:5000/y" + digest},
		{"127.0.0.1:5000/x:ab12", []string{"<none>:<none>"}, "<none>:<none>"},
	} {
		if got := foreignName(c.ref, c.names); got != c.want {
			t.Errorf("%s among %v: %q, want %q", c.ref, c.names, got, c.want)
		}
	}
}

// An execution that came before PID 1 was the payload is no proof that a signal is handled.
func TestRuns(t *testing.T) {
	const first = "plimsoll 1 word first 12\n"
	for out, want := range map[string]bool{
		first + "k pid1 runc:[2:INIT]\n": false, first + "k pid1 plimsoll-probe\n": true, first + "k proc absent\n": true, "no word": true,
	} {
		if got := runs([]byte(out), "word", image.ProbePath); got != want {
			t.Errorf("%q: %v", out, got)
		}
	}
	if !runs([]byte(first+"k pid1 a-program-of-an\n"), "word", "/bin/a-program-of-any-length") {
		t.Error("the kernel cuts a name")
	}
}

// Pods that run and bear no label of ours are others'; where there are any, a kubelet may be.
func TestForeignPods(t *testing.T) {
	ours := map[string]string{engine.Label: "abcdefgh"}
	if n := foreignPods([]*runtimev1.PodSandbox{{Labels: ours}, {Labels: map[string]string{"k8s-app": "dns"}}, {},
		{State: runtimev1.PodSandboxState_SANDBOX_NOTREADY}}); n != 2 {
		t.Errorf("%d, want 2", n)
	}
}

// A containerd whose CRI is switched off says that it knows no such service.
func TestUnimplementedCRI(t *testing.T) {
	err := (&Server{}).wrong("asking whether it answers", status.Error(codes.Unimplemented, "unknown service runtime.v1.RuntimeService"))
	if err.Class != record.Unsupported || !strings.Contains(err.Error(), "disabled_plugins") {
		t.Errorf("%v, of class %s", err, err.Class)
	}
}
