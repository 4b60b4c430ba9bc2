//go:build !unit

package containerd

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/imagestore"
)

func TestPulls(t *testing.T) {
	for _, storage := range []string{"overlayfs", "native"} {
		t.Run(storage, func(t *testing.T) {
			t.Parallel()
			enginetest.Pulls(t, New(), map[string]string{engine.Storage: storage}, enginetest.PullOptions{})
		})
	}
}

// TestPrintedSize: what we call printed is what ctr prints.
func TestPrintedSize(t *testing.T) {
	ctr, err := exec.LookPath("ctr")
	if err != nil {
		t.Skip("ctr is not installed")
	}
	kit := enginetest.Kit(t)
	env := open(t, kit, nil, engine.Limits{})
	registry, err := imagestore.StartRegistry(t.TempDir())
	require.NoError(t, err)
	defer registry.Close()
	img, err := registry.Publish(t.Context(), kit.Images, "payload", kit.RunID)
	require.NoError(t, err)
	if pulled, err := env.Pull(t.Context(), engine.PullTask{Ref: img.Ref, Digest: img.Digest}); err != nil || pulled.Failure != nil {
		t.Fatal(err, pulled.Failure)
	}
	z, err := env.Sizes(t.Context(), img.Ref)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), ctr, "--address", env.d.socket, "-n", pullNamespace(kit.RunID), "images", "ls", "name=="+img.Ref).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := fmt.Sprintf("%.1f KiB", float64(z.Printed)/1024)
	if !strings.Contains(string(out), want) {
		t.Errorf("ours is %s, ctr prints:\n%s", want, out)
	}
}
