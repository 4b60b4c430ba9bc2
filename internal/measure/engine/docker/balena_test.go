package docker

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"

	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/cgroup"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestBalena runs the adapter for balenaEngine against Docker's API on another
// socket, with docker under the name of balenaEngine's client: what it does
// with the real one is not known by this, but by TestBalenaItself, where
// balenaEngine runs.
func TestBalena(t *testing.T) {
	if testing.Short() {
		t.Skip("a private daemon takes seconds to start; left out with -short")
	}
	kit := enginetest.Kit(t)
	host := New()
	d, err := host.user(t.Context(), kit)
	if err != nil {
		t.Skip(err)
	}
	defer d.Close()
	answer, err := d.Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Skip(err)
	}
	if no := host.privately(kit, &answer.Info, engine.Storage, "overlay2", unavailable("", "")); no != nil {
		t.Skip(no)
	}
	own, err := host.startOwn(t.Context(), kit, &answer.Info, wanted{storage: "overlay2", cgroups: answer.Info.CgroupDriver})
	require.NoError(t, err)
	defer func() {
		if err := own.end(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	other := enginetest.Kit(t)
	look, getenv := other.LookPath, other.Getenv
	other.LookPath = func(name string) (string, error) {
		if name == "balena-engine" {
			return look("docker")
		}
		return look(name)
	}
	other.Getenv = func(name string) string {
		if name == "BALENA_HOST" {
			return own.host()
		}
		return getenv(name)
	}
	for _, by := range []string{byAPI, byCLI} {
		t.Run(by, func(t *testing.T) {
			facts := oneLife(t, Balena(), other, map[string]string{engine.Client: by, engine.Network: "none"})
			if facts["host"] != own.host() || facts["client"] != by || facts["daemon"] != "user's" {
				t.Errorf("facts %v", facts)
			}
		})
	}
	if det := Balena().Detect(t.Context(), kit); det.Usable && det.Where == "/var/run/docker.sock" {
		t.Error("the user's Docker is taken for balenaEngine")
	}
}

// TestBalenaItself puts the adapter through everything on the real engine. No
// package has it.
func TestBalenaItself(t *testing.T) {
	kit := enginetest.Kit(t)
	if d := Balena().Detect(t.Context(), kit); !d.Usable {
		t.Skipf("balenaEngine is in no package, and none answers here: %s", d.Reason)
	}
	own := []string{"mnt", "pid", "ipc", "uts", "net"}
	for _, by := range []string{byAPI, byCLI} {
		t.Run(by, func(t *testing.T) {
			levels := map[string]string{engine.Client: by}
			enginetest.Conformance(t, Balena(), levels, enginetest.Options{Own: own, Shared: []string{"user"}, Removes: by == byCLI})
		})
	}
	t.Run("pulls", func(t *testing.T) {
		enginetest.Pulls(t, Balena(), nil, enginetest.PullOptions{})
	})
}

// Whoever uses balenaEngine is told of its own daemon, files and group.
func TestBalenaWords(t *testing.T) {
	info := &system.Info{}
	d := &daemon{flavour: balena, host: "unix:///run/x.sock"}
	for what, err := range map[string]error{
		"a runtime that it lacks": balena.noRuntime(info, "crun"),
		"Kata that it lacks":      balena.noRuntime(info, "kata"),
		"no permission":           d.wrong("asking", os.ErrPermission),
		"no answer":               d.wrong("asking", fmt.Errorf("dialling: %w", errors.Join(os.ErrNotExist, os.ErrClosed))),
		"limits":                  errors.New(d.limitFacts(info, engine.Limits{CPUs: 1})[cgroup.LimitsWhy]),
	} {
		if s := strings.ToLower(err.Error()); strings.Contains(s, "docker") {
			t.Errorf("%s: %s", what, err)
		}
	}
	_, fix := engine.Reason(balena.noRuntime(info, "crun"))
	if !strings.Contains(fix, "/etc/balena-engine/daemon.json") {
		t.Errorf("what helps is %q", fix)
	}
	seen := evidence{engine: balena.name, runtime: adapter.Itself{Program: "runc"}}
	seen.live.HostConfig = &container.HostConfig{Runtime: "runc"}
	if err := seen.judge(engine.Spec{Levels: map[string]string{engine.Runtime: "crun"}}, "crun"); err == nil || strings.Contains(err.Error(), "docker") {
		t.Errorf("the wrong runtime: %v", err)
	}
}
