package podman

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// TestOutliving: a podman that looks at its storage does not die of a closed pipe where its
// reader is killed, which would leave a mount: it holds the reading end itself.
func TestOutliving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "podman")
	const script = "#!/bin/sh\nif [ \"$(readlink /proc/$$/fd/1)\" = \"$(readlink /proc/$$/fd/3)\" ]; then echo holds; else echo closes; fi\n"
	require.NoError(t, os.WriteFile(path, []byte(script), 0o755)) //nolint:gosec // a program
	p := &program{path: path}
	for verb, want := range map[string]string{"version": "holds\n", "info": "holds\n", "image": "holds\n", "ps": "closes\n", "create": "closes\n"} {
		got, err := p.output(t.Context(), verb)
		if err != nil || string(got) != want {
			t.Errorf("podman %s: %q, want %q (%v)", verb, got, want, err)
		}
	}
}
