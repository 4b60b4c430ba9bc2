package docker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"
	"github.com/moby/moby/client"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
)

// TestTakenOver: what a user's daemon tells of its security is a private one's too.
func TestTakenOver(t *testing.T) {
	if testing.Short() {
		t.Skip("a private daemon takes seconds to start; left out with -short")
	}
	e, kit, info := usersDaemon(t)
	if no := e.ownMechanism(kit, info, "own-daemon"); no != nil {
		t.Skip(no)
	}
	// As if the user's had been started so.
	profile := filepath.Join(t.TempDir(), "strict.json")
	require.NoError(t, os.WriteFile(profile, []byte(`{"defaultAction":"SCMP_ACT_ALLOW"}`), 0o644))
	info.SecurityOptions = []string{"name=seccomp,profile=" + profile, "name=no-new-privileges", "name=userns"}
	own, err := e.startOwn(t.Context(), kit, info, wanted{storage: "vfs", cgroups: info.CgroupDriver})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := own.end(context.Background()); err != nil {
			t.Error(err)
		}
	})
	mine, err := e.connect(kit, own.host())
	require.NoError(t, err)
	defer mine.Close()
	got, err := mine.Info(t.Context(), client.InfoOptions{})
	require.NoError(t, err)
	if filepath.Base(seccompProfile(&got.Info)) != "seccomp.json" {
		t.Errorf("the private daemon has %q", got.Info.SecurityOptions)
	}
	// Daemons before 23 tell nothing of it, but end at a key that they don't know.
	if own.config["no-new-privileges"] != true || adapter.MajorVersion(got.Info.ServerVersion) >= 23 && !hasSecurity(&got.Info, "no-new-privileges") {
		t.Errorf("the private daemon has %q, by %v", got.Info.SecurityOptions, own.config)
	}
	if f := own.facts()[remapsUsers]; !strings.HasPrefix(f, "not taken over") {
		t.Errorf("nothing tells that its containers have no users of their own: %q", f)
	}
}

// TestTakeOver: SELinux is switched on where the user's daemon has it, and no key is there
// that a daemon without could refuse.
func TestTakeOver(t *testing.T) {
	for option, want := range map[string]string{
		"name=selinux": "selinux-enabled", "name=no-new-privileges": "no-new-privileges",
		"name=seccomp,profile=builtin": "", "name=seccomp,profile=default": "", "name=cgroupns": "", "name=userns": "",
	} {
		config := map[string]any{}
		require.NoError(t, takeOver(&system.Info{SecurityOptions: []string{option}}, config, t.TempDir()))
		if len(config) > 1 || want == "" && len(config) > 0 || want != "" && config[want] != true {
			t.Errorf("%s: %v, want %q", option, config, want)
		}
	}
	config := map[string]any{}
	require.NoError(t, takeOver(&system.Info{SecurityOptions: []string{"name=seccomp,profile=unconfined"}}, config, t.TempDir()))
	if len(config) != 1 || config["seccomp-profile"] != "unconfined" {
		t.Errorf("the user's daemon has no filter, and the private one %v", config)
	}
	err := takeOver(&system.Info{SecurityOptions: []string{"name=seccomp,profile=/no/such/profile"}}, map[string]any{}, t.TempDir())
	if err == nil {
		t.Fatal("a profile that can't be read is left out in silence")
	}
	if text, fix := engine.Reason(err); !strings.Contains(text, "/no/such/profile") || !strings.Contains(fix, "put the file back") {
		t.Errorf("nobody knows what to do: %q, %q", text, fix)
	}
}
