package docker

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// privateDaemon is a dockerd of the test's own, in network and mount
// namespaces of its own: the daemon that others use is never touched.
type privateDaemon struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

// startPrivate starts a daemon that knows the given runtimes by path.
func startPrivate(t *testing.T, runtimes map[string]string) *privateDaemon {
	t.Helper()
	if testing.Short() {
		t.Skip("a daemon of its own takes seconds to start; left out with -short")
	}
	if os.Geteuid() != 0 {
		t.Skip("a private dockerd needs root")
	}
	for _, name := range []string{"dockerd", "unshare"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed", name)
		}
	}
	dir, err := os.MkdirTemp("", "plimsoll-dockerd-")
	require.NoError(t, err)
	p := &privateDaemon{t: t, dir: dir}
	config := map[string]any{
		"data-root": dir + "/root", "exec-root": dir + "/exec", "pidfile": dir + "/pid",
		"hosts": []string{p.host()}, "bridge": "none", "iptables": false, "ip-forward": false,
	}
	known := map[string]any{}
	for name, path := range runtimes {
		known[name] = map[string]string{"path": path}
	}
	config["runtimes"] = known
	data, err := json.Marshal(config)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(dir+"/daemon.json", data, 0o600))
	t.Cleanup(func() {
		p.end()
		if mounts, err := os.ReadFile("/proc/self/mounts"); err == nil && strings.Contains(string(mounts), dir) {
			t.Errorf("the private daemon has left mounts below %s", dir)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("removing the private daemon's directory: %v", err)
		}
	})
	p.start()
	return p
}

func (p *privateDaemon) host() string { return "unix://" + filepath.Join(p.dir, "docker.sock") }

func (p *privateDaemon) start() {
	p.t.Helper()
	log, err := os.OpenFile(p.dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer log.Close()
	// unshare execs the daemon, so that its pid is the daemon's.
	p.cmd = exec.Command("unshare", "--net", "--mount", "dockerd", "--config-file", p.dir+"/daemon.json")
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	d, err := New().user(p.t.Context(), p.kit(&engine.Kit{Getenv: os.Getenv}))
	if err != nil {
		p.t.Fatal(err)
	}
	defer d.Close()
	ctx, cancel := context.WithTimeout(p.t.Context(), time.Minute)
	defer cancel()
	for d.ping(ctx) != nil {
		select {
		case <-ctx.Done():
			text, _ := os.ReadFile(p.dir + "/log")
			p.t.Fatalf("the private dockerd did not come up: %s", text)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// kill ends the daemon as a crash would. Its containerd dies with it (by
// PR_SET_PDEATHSIG), its containers stay. The files with their pids are
// removed, since the next daemon takes a zombie for a running containerd.
func (p *privateDaemon) kill() {
	p.t.Helper()
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // its status says nothing
	p.cmd = nil
	for _, file := range []string{"/pid", "/exec/containerd/containerd.pid"} {
		if err := os.Remove(p.dir + file); err != nil {
			p.t.Error(err)
		}
	}
}

// end ends the daemon in order and waits for it, and so for its containerd.
func (p *privateDaemon) end() {
	p.t.Helper()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait() // its status says nothing
	p.cmd = nil
}

// kit points a kit to this daemon.
func (p *privateDaemon) kit(k *engine.Kit) *engine.Kit {
	c := *k
	getenv := k.Getenv
	c.Getenv = func(name string) string {
		if name == "DOCKER_HOST" {
			return p.host()
		}
		return getenv(name)
	}
	return &c
}

func (p *privateDaemon) open(t *testing.T, levels map[string]string, limits engine.Limits) (engine.Environment, error) {
	t.Helper()
	env, err := New().Open(t.Context(), p.kit(enginetest.Kit(t)), engine.Spec{ID: "private", Levels: levels, Limits: limits})
	if err == nil {
		t.Cleanup(func() {
			if err := env.Close(context.Background()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
	return env, err
}
