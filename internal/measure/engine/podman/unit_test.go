package podman

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/kittest"
	"plimsoll/internal/record"
)

func TestUlimits(t *testing.T) {
	with, without := map[string]string{"CapEff": "000001ffffffffff"}, map[string]string{"CapEff": "000001fffeffffff"}
	many := unix.Rlimit{Cur: 1, Max: unix.RLIM_INFINITY}
	for _, c := range []struct {
		status       map[string]string
		files, procs unix.Rlimit
		want         string
	}{
		{with, unix.Rlimit{Max: 20000}, unix.Rlimit{Max: 96365}, ""},
		{without, unix.Rlimit{Max: 20000}, unix.Rlimit{Max: 96365}, "--ulimit nofile=20000:20000 --ulimit nproc=32768:32768"},
		{without, many, unix.Rlimit{Max: 100}, "--ulimit nofile=1048576:1048576 --ulimit nproc=100:100"},
	} {
		if got := strings.Join(ulimits(c.status, c.files, c.procs), " "); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestArgs(t *testing.T) {
	s := settings{image: "img:tag", runID: "abcd1234", network: "none", seccomp: "off",
		ulimits: []string{"--ulimit", "nofile=1:1"}, limits: engine.Limits{CPUs: 1.5, MemoryBytes: 1 << 30}}
	got := strings.Join(s.args("run", engine.Task{Name: "n", Argv: []string{"/p", "a", "-b"}, Env: []string{"K=V"}}, "--rm"), " ")
	want := "run --rm --name n --label io.plimsoll.run=abcd1234 --annotation io.plimsoll.run=abcd1234 --annotation io.plimsoll.container=n --pull=never --log-driver=none --init=false --network=none" +
		" --security-opt=seccomp=unconfined --ulimit nofile=1:1 --cpus=1.5 --memory=1073741824 --memory-swap=1073741824" +
		` --env=K=V --entrypoint ["/p"] img:tag a -b`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if s := graceSeconds(engine.Stop{Grace: 1500 * time.Millisecond}); s != "2" {
		t.Errorf("grace %s s, want 2", s)
	}
}

func TestInfo(t *testing.T) {
	var i info
	// What podman 4.3.1 prints, shortened.
	err := json.Unmarshal([]byte(`{"host":{"cgroupManager":"cgroupfs","cgroupVersion":"v2","cgroupControllers":["memory","pids"],
		"ociRuntime":{"name":"crun","path":"/usr/bin/crun","version":"crun version 1.8.1\ncommit: f8a0"},
		"security":{"rootless":true,"seccompEnabled":true}},
		"store":{"graphDriverName":"overlay","graphOptions":{"overlay.mount_program":{"Executable":"/usr/bin/fuse-overlayfs"}},
		"graphStatus":{"Backing Filesystem":"extfs"}},"version":{"Version":"4.3.1"}}`), &i)
	require.NoError(t, err)
	if i.driver() != fuseOverlay {
		t.Errorf("driver %s, want %s", i.driver(), fuseOverlay)
	}
	if i.limits() {
		t.Error("an ordinary user without the cpu controller was said to limit")
	}
	i.Host.CgroupControllers = append(i.Host.CgroupControllers, "cpu")
	if !i.limits() {
		t.Error("an ordinary user with both controllers on v2 can limit")
	}
	if v := runtimeVersion(i.Host.OCIRuntime.Version); v != "1.8.1" {
		t.Errorf("version %q", v)
	}
	if i.facts()["rootless"] != "yes" || i.facts()["version"] != "4.3.1" {
		t.Errorf("facts %v", i.facts())
	}
}

// TestJudge: whatever is not as asked for is a wrong component.
func TestJudge(t *testing.T) {
	asked := map[string]string{engine.Runtime: "crun", engine.Network: "none", engine.Storage: overlay, engine.Seccomp: "off", engine.Rootless: "no"}
	right := func() evidence {
		e := evidence{info: &info{},
			Seen: adapter.Seen{Inside: map[string]string{"ns.net": "2", "seccomp": "0", "uname.release": "6.1", "uname.version": "#1", "root.fs": "overlay"}, Host: adapter.HostState{Kernel: "6.1 #1", Net: "1", Seccomp: "0"}}}
		e.live.OCIRuntime = "/usr/bin/crun"
		e.live.HostConfig.NetworkMode, e.live.HostConfig.LogConfig.Type = "none", "none"
		e.live.HostConfig.SecurityOpt = []string{"seccomp=unconfined"}
		e.info.Host.OCIRuntime.Version = "crun version 1.8.1\n"
		e.info.Store.GraphDriverName = "overlay"
		return e
	}
	e := right()
	if err := e.judge(engine.Spec{Levels: asked}); err != nil {
		t.Fatalf("what is right: %v", err)
	}
	for name, spoil := range map[string]func(*evidence, map[string]string){
		"runtime by podman's word":   func(e *evidence, _ map[string]string) { e.live.OCIRuntime = "runc" },
		"runtime by its own word":    func(e *evidence, _ map[string]string) { e.info.Host.OCIRuntime.Version = "runc version 1.1.5" },
		"kernel":                     func(e *evidence, _ map[string]string) { e.Inside["uname.release"] = "4.4.0" },
		"storage by podman's word":   func(e *evidence, _ map[string]string) { e.info.Store.GraphDriverName = "vfs" },
		"storage from inside":        func(e *evidence, _ map[string]string) { e.Inside["root.fs"] = "ext4" },
		"storage by another program": func(e *evidence, _ map[string]string) { e.Inside["root.fs"] = "fuse.fuse-overlayfs" },
		"network by podman's word":   func(e *evidence, _ map[string]string) { e.live.HostConfig.NetworkMode = "bridge" },
		"network by the namespace":   func(e *evidence, _ map[string]string) { e.Inside["ns.net"] = "1" },
		"seccomp by podman's word":   func(e *evidence, _ map[string]string) { e.live.HostConfig.SecurityOpt = nil },
		"seccomp from inside":        func(e *evidence, _ map[string]string) { e.Inside["seccomp"] = "2" },
		"rootless":                   func(e *evidence, _ map[string]string) { e.info.Host.Security.Rootless = true },
		"log driver":                 func(e *evidence, _ map[string]string) { e.live.HostConfig.LogConfig.Type = "k8s-file" },
	} {
		e, levels := right(), maps.Clone(asked)
		spoil(&e, levels)
		var got *engine.Error
		if err := e.judge(engine.Spec{Levels: levels}); !errors.As(err, &got) || got.Class != record.WrongComponent {
			t.Errorf("%s: %v, want class %s", name, err, record.WrongComponent)
		}
	}
}

func TestWho(t *testing.T) {
	user := &engine.User{Name: "u", RuntimeDir: "/run/user/1000"}
	for _, c := range []struct {
		root  bool
		user  *engine.User
		level string
		want  *engine.User
		fails bool
	}{
		{true, user, "default", nil, false}, {true, user, "yes", user, false}, {true, nil, "yes", nil, true},
		{false, user, "default", user, false}, {false, user, "no", nil, true},
		{true, &engine.User{Name: "u"}, "yes", nil, true},
	} {
		got, err := who(&engine.Kit{Root: c.root, User: c.user, NoUser: "none here"}, c.level)
		if got != c.want || (err != nil) != c.fails {
			t.Errorf("root %v, level %s: %v, %v", c.root, c.level, got, err)
		}
	}
}

// Where the kernel forbids user namespaces, rootless Podman is not usable, and says why.
func TestForbidden(t *testing.T) {
	if !kittest.NoUserNamespaces(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "podman")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho 5.4.2\n"), 0o755))
	kit := &engine.Kit{Getenv: os.Getenv, LookPath: func(string) (string, error) { return path, nil },
		User: &engine.User{Name: "u", UID: os.Getuid(), RuntimeDir: t.TempDir()}}
	if d := New().Detect(t.Context(), kit); d.Usable || !strings.Contains(d.Reason, "max_user_namespaces is 0") || d.Fix == "" {
		t.Errorf("%+v", d)
	}
	kit.Root = true
	if d := New().Detect(t.Context(), kit); !d.Usable {
		t.Errorf("as root: %+v", d)
	}
	if err := possible(kit, engine.Rootless, "yes"); err == nil || !strings.Contains(err.Text, "max_user_namespaces is 0") {
		t.Errorf("rootless for root: %v", err)
	}
}

// TestCommand: as root, an ordinary user's podman runs under the user's ids
// and with the user's directories; as the user itself, under its own.
func TestCommand(t *testing.T) {
	kit := &engine.Kit{Root: true, LookPath: func(string) (string, error) { return "/usr/bin/podman", nil },
		Getenv: func(name string) string { return map[string]string{"PATH": "/bin", "HOME": "/root"}[name] }}
	user := &engine.User{Name: "u", UID: 1000, GID: 1001, Groups: []int{1001, 5}, Home: "/home/u", RuntimeDir: "/run/user/1000"}
	p, err := find(kit, user)
	if err != nil {
		t.Fatal(err)
	}
	c := p.command("info")
	if !c.SetUser || c.UID != 1000 || c.GID != 1001 || !slices.Equal(c.Groups, user.Groups) {
		t.Errorf("credentials: %+v", c)
	}
	want := []string{"USER=u", "LOGNAME=u", "XDG_RUNTIME_DIR=/run/user/1000", "PATH=/bin", "HOME=/home/u"}
	if !slices.Equal(c.Env, want) {
		t.Errorf("environment %v, want %v", c.Env, want)
	}
	kit.Root = false
	if p, _ := find(kit, user); p.command("info").SetUser {
		t.Error("an ordinary user tried to change its ids")
	}
}

func TestRuntimeFlags(t *testing.T) {
	for _, c := range []struct {
		runtime, network string
		rootless         bool
		want             string
	}{{"crun", "none", true, ""}, {"runsc", "none", false, "network=none"}, {"runsc", "host", true, "network=host ignore-cgroups"}, {"runsc", "default", false, ""}} {
		if got := strings.Join(runtimeFlags(c.runtime, c.network, c.rootless), " "); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A podman that answers late is found, and one that does not in the time that
// there is says so.
func TestDetectSlow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podman")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\nsleep 0.6\necho 4.3.1\n"), 0o755))
	kit := &engine.Kit{Getenv: os.Getenv, LookPath: func(string) (string, error) { return path, nil },
		User: &engine.User{Name: "somebody", UID: os.Getuid(), GID: os.Getgid(), RuntimeDir: t.TempDir()}}
	if d := New().Detect(t.Context(), kit); !d.Usable || d.Version != "4.3.1" {
		t.Errorf("%+v", d)
	}
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if d := New().Detect(short, kit); d.Usable || !strings.Contains(d.Reason, " hung: it had not ended after ") {
		t.Errorf("%+v", d)
	}
}
