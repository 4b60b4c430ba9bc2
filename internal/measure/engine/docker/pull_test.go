package docker

import (
	"fmt"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestPulls: both clients on the user's daemon, and a private daemon that
// reaches the registry through its relay.
func TestPulls(t *testing.T) {
	t.Parallel()
	for _, levels := range []map[string]string{nil, {engine.Client: byCLI}, {engine.Storage: "vfs"}, {engine.Storage: "btrfs"}, {engine.Rootless: "yes"}} {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			t.Parallel()
			enginetest.Pulls(t, New(), levels, enginetest.PullOptions{})
		})
	}
}

func TestChainIDs(t *testing.T) {
	// From the OCI image specification's rule, computed by `printf 'sha256:a sha256:b' | sha256sum`.
	got := chainIDs([]string{"sha256:a", "sha256:b"})
	const want = "sha256:970a948bffa8de94d6e22d747ba8c95030e6e546909f98f54e99a13005e173a8"
	if len(got) != 2 || got[0] != "sha256:a" || got[1] != want {
		t.Errorf("chain %v", got)
	}
}
