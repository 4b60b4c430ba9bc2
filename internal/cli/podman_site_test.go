package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/record"
)

// Podman is measured on another host, which has locks of its own: it keeps them in /dev/shm.
func TestSiteHostsPodman(t *testing.T) {
	if _, err := exec.LookPath("podman"); err != nil {
		t.Skip("podman is not installed: lab/engines/podman up installs it")
	}
	u := farSite(t, nil, "one")
	study := "plimsoll: 1\nname: far\nprotocol: {blocks: 2, warmup: 0, pause: 1ms}\ncommon: {network: none}\nworkloads: [hello]\nenvironments: [podman]\n"
	require.NoError(t, os.WriteFile(filepath.Join(u.work, "podman.yaml"), []byte(study), 0o600))
	u.begin("run", "--progress", "plain", "podman.yaml", "--on", "ssh://one", "-o", "out").end(Done, "^one: done; 8 trials")
	rec, err := record.Open(filepath.Join(u.work, "out/one"))
	require.NoError(t, err)
	if !slices.ContainsFunc(rec.Run().Environments, func(e record.Environment) bool { return e.Engine == "podman" }) {
		t.Errorf("podman was not measured: %+v", rec.Run().Environments)
	}
	if locks := string(below(t, u, "one", "/dev/shm")); !strings.Contains(locks, "/libpod") {
		t.Errorf("Podman's locks are not in the host's /dev/shm, which has %s", locks)
	}
	u.clean("one")
}
