package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"plimsoll/internal/common/golden"
	"plimsoll/internal/common/require"
	"plimsoll/internal/common/tested"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
	"plimsoll/internal/understand/analyze/audit"
)

// found1 is an engine of a machine that there is not: it is there or not, and
// nothing can be run with it.
type found1 struct {
	engine.Engine
	info engine.Info
	det  engine.Detection
}

func (f found1) Info() engine.Info { return f.info }

func (f found1) Detect(context.Context, *engine.Kit) engine.Detection { return f.det }

// machine has one engine of every kind.
func machine() []engine.Engine {
	yes := func(names ...string) []engine.Level {
		var out []engine.Level
		for _, n := range names {
			out = append(out, engine.Level{Name: n, Usable: true})
		}
		return out
	}
	known := map[string][]string{
		engine.Runtime: {"default", "runc", "crun", "kata"}, engine.Storage: {"default", "overlay2", "btrfs", "fuse-overlayfs", "vfs"},
		engine.Client: {"api", "cli"}, engine.Rootless: {"no", "yes"},
	}
	return []engine.Engine{
		found1{
			info: engine.Info{Name: "native", Title: "native", Baseline: true, Typical: 10 * time.Millisecond},
			det:  engine.Detection{Usable: true, Version: "Linux 6.1.0-very-long-release-name", Where: "chroot(2)", Facts: map[string]string{"storage": "directory"}},
		},
		found1{
			info: engine.Info{Name: "docker", Title: "Docker", Detached: true, Typical: 400 * time.Millisecond, Levels: known},
			det: engine.Detection{
				Usable: true, Version: "28.1.1", Where: "/var/run/docker.sock",
				Facts: map[string]string{"version": "28.1.1", "cgroup": "v2", "cgroup-driver": "systemd", "storage": "overlay2", "rootless": "no"},
				Levels: map[string][]engine.Level{
					engine.Runtime:  append(yes("default", "runc", "crun"), engine.Level{Name: "kata", Reason: "the daemon has no runtime kata", Fix: "apt-get install kata"}),
					engine.Storage:  append(yes("default", "overlay2", "fuse-overlayfs", "vfs"), engine.Level{Name: "btrfs", Reason: "there is no loop device"}),
					engine.Client:   yes("api", "cli"),
					engine.Rootless: append(yes("no"), engine.Level{Name: "yes", Reason: "no rootless daemon runs", Fix: "dockerd-rootless-setuptool.sh install"}),
				},
			},
		},
		found1{
			info: engine.Info{Name: "balena", Title: "balenaEngine", Detached: true, ByHand: "20.10.44", Typical: 400 * time.Millisecond, Levels: map[string][]string{engine.Client: {"api", "cli"}}},
			det:  engine.Detection{Usable: true, Version: "20.10.43", Where: "/run/balena-engine.sock", Levels: map[string][]engine.Level{engine.Client: yes("api", "cli")}},
		},
		found1{
			info: engine.Info{Name: "novel", Title: "Novel", Unverified: true, Typical: time.Second, Levels: map[string][]string{engine.Client: {"cli"}}, Programs: []engine.Program{{Name: "novel"}}},
			det:  engine.Detection{Usable: true, Version: "0.1", Where: "/usr/bin/novel", Levels: map[string][]engine.Level{engine.Client: yes("cli")}},
		},
		found1{
			info: engine.Info{Name: "lxd", Title: "LXD", Typical: 1200 * time.Millisecond, Levels: map[string][]string{engine.Storage: {"default", "dir", "zfs"}}},
			det:  engine.Detection{Reason: "LXD is not installed, or its daemon does not run", Fix: "apt-get install lxd && lxd init --minimal"},
		},
	}
}

// offline is a world with these engines and no programs, whose state lies in a
// directory of the test.
func offline(state string, engines []engine.Engine, stdout, stderr io.Writer, args ...string) World {
	w := terminal(0, "PLIMSOLL_STATE="+state)
	w.Args, w.Stdin, w.Stdout, w.Stderr, w.Engines = args, strings.NewReader(""), stdout, stderr, engines
	w.LookPath = func(string) (string, error) { return "", os.ErrNotExist }
	return w
}

func runEngines(t *testing.T, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	status = Main(offline(t.TempDir(), machine(), &out, &errs, append([]string{"engines"}, args...)...))
	return out.String(), errs.String(), status
}

// onPlatform pretends that Docker 20.10.24 was tested on Debian 12 and 26.1.5 on Debian 13,
// and that this machine is of the platform.
func onPlatform(t *testing.T, name string) {
	t.Helper()
	table, here := tested.All, platform
	t.Cleanup(func() { tested.All, platform = table, here })
	tested.All = func() []tested.Entry {
		return []tested.Entry{{Engine: "docker", Version: "20.10.24", Platform: "Debian 12", Cgroup: "v1", By: "conformance", Date: "2026-11-29"},
			{Engine: "docker", Version: "26.1.5", Platform: "Debian 13", Cgroup: "v2", Init: "systemd", By: "platform", Date: "2026-11-29"}}
	}
	platform = func() string { return name }
}

func TestEngines(t *testing.T) {
	onPlatform(t, "Debian 13")
	for _, c := range []struct {
		name   string
		args   []string
		status Status
		stderr string
	}{
		{"table.txt", nil, Done, ""},
		{"detail.txt", []string{"docker", "balena", "novel", "lxd", "native"}, Done, ""},
		{"all.json", []string{"--format", "json"}, Done, ""},
		{"check.txt", []string{"docker", "--check"}, Done, ""},
		{"check-fails.txt", []string{"docker", "lxd", "--check"}, NothingHere, "not usable here: lxd"},
		{"", []string{"--check"}, Usage, "--check needs the names"},
		{"", []string{"dcoker"}, Usage, `no engine "dcoker": there are native, docker, balena, novel, lxd`},
	} {
		got, stderr, status := runEngines(t, c.args...)
		if status != int(c.status) || !strings.Contains(stderr, c.stderr) || (c.stderr == "") != (stderr == "") {
			t.Errorf("%v: status %d, want %d; said %q", c.args, status, c.status, stderr)
		}
		for _, l := range strings.Split(got, "\n") {
			if len(c.args) == 0 && utf8.RuneCountInString(l) > 100 {
				t.Errorf("%d columns: %s", utf8.RuneCountInString(l), l)
			}
		}
		if c.name == "" {
			if got != "" {
				t.Errorf("%v prints %q", c.args, got)
			}
			continue
		}
		golden.Check(t, filepath.Join("testdata", "engines", c.name), got)
	}
}

// Whoever gives a run where an engine is meant is told what prints it.
func TestRunInPlaceOfAnEngine(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "kept")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, record.RunFile), nil, 0o600))
	for _, command := range []string{"engines", "ablate", "explain"} {
		var out, errs bytes.Buffer
		if status := Main(offline(t.TempDir(), machine(), &out, &errs, command, dir)); status != int(Usage) || !strings.Contains(errs.String(), "plimsoll report "+dir+" prints it again") {
			t.Errorf("%s: status %d, %s", command, status, errs.String())
		}
	}
}

// The audit knows mechanisms by their names, which are the engines'.
func TestAuditKnowsMechanisms(t *testing.T) {
	w := offline(t.TempDir(), nil, io.Discard, io.Discard)
	w.Engines = nil // all that there are
	s, err := newSetting(w)
	require.NoError(t, err)
	there := map[string]bool{}
	for _, e := range s.engines {
		for _, m := range e.Info().Mechanisms {
			if m.Factor == engine.Without || m.Factor == engine.With {
				there[m.To] = true
			}
		}
	}
	for _, name := range audit.Mechanisms() {
		if !there[name] {
			t.Errorf("no engine leaves %s out or adds it", name)
		}
	}
}
