package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// TestJoinedLacks: what a daemon that runs already has not, none is started for, though
// one could be; and the advice is none that would be passed over.
func TestJoinedLacks(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docker.sock"), nil, 0o600)) // the ordinary user has one
	plain := &engine.Kit{Root: true, User: &engine.User{Name: "user", RuntimeDir: dir},
		Getenv: func(string) string { return "" }, LookPath: func(name string) (string, error) { return "/usr/bin/" + name, nil }}
	joined := plain.With([]record.Build{{Program: "dockerd", Level: "other", Path: "/usr/bin/dockerd", Socket: "/run/other/docker.sock"}})
	info := &system.Info{Driver: "overlay2", CgroupDriver: "systemd"}
	e := New()
	for factor, level := range map[string]string{engine.Rootless: "yes", engine.Storage: "vfs", engine.Driver: "cgroupfs"} {
		why := e.offered(joined, info, factor, level)
		if why == nil {
			t.Fatalf("%s=%s is said to be there", factor, level)
		}
		no := e.privately(joined, info, factor, level, why)
		if no == nil || !strings.Contains(no.Text, "is used as it is") || !strings.HasPrefix(no.Text, why.Text) || strings.Contains(no.Fix, "DOCKER_HOST") {
			t.Errorf("%s=%s: %+v", factor, level, no)
		}
		if factor == engine.Rootless && (no == nil || no.Fix != "name the socket of another one: --build dockerd:other=unix://SOCKET") {
			t.Errorf("the advice is %+v", no)
		}
		if why = e.offered(plain, info, factor, level); why == nil {
			t.Fatalf("%s=%s is said to be there", factor, level)
		}
		if no := e.privately(plain, info, factor, level, why); no != nil {
			t.Errorf("%s=%s of a private daemon: %+v", factor, level, no)
		}
	}
}
