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

func TestProgress(t *testing.T) {
	var p progress
	for i, m := range [][2]string{
		{"tag", "Pulling from plimsoll/x"}, {"a", "Pulling fs layer"}, {"b", "Pulling fs layer"}, {"h", "Already exists"},
		{"a", "Downloading"}, {"a", "Verifying Checksum"}, {"a", "Download complete"}, {"b", "Verifying Checksum"},
		{"a", "Extracting"}, {"b", "Download complete"}, {"a", "Pull complete"}, {"b", "Pull complete"},
		{"", "Digest: sha256:12"}, {"", "Status: Downloaded newer image for x"},
	} {
		p.add(int64(i+1), m[0], m[1])
	}
	got := map[string]int64{}
	for _, s := range p.steps(false) {
		got[s.Name] = s.At
	}
	want := map[string]int64{engine.StepResolve: 1, engine.StepTransfer: 8, engine.StepVerify: 10, engine.StepUnpack: 12}
	if p.digest != "sha256:12" || len(got) != len(want) {
		t.Errorf("digest %q, steps %v, want %v", p.digest, got, want)
	}
	for k, v := range want {
		if got[k] != v {
			t.Errorf("%s ends at %d, want %d", k, got[k], v)
		}
	}
	// What the daemon leaves out for one layer is missing, and not guessed.
	p.layers["b"].downloaded = 0
	for _, s := range p.steps(false) {
		if s.Name == engine.StepTransfer || s.Name == engine.StepVerify {
			t.Errorf("%s is told, though it was not for one layer", s.Name)
		}
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
