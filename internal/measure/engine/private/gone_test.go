package private

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
)

// Nobody is told to start a daemon again that is the run's own: only that it is
// gone, what that means, and its last words.
func TestGone(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "log"), []byte("level=info msg=\"fine\"\nlevel=fatal msg=\"no space left on device\"\n"), 0o600))
	d := &Daemon{Dir: dir, opts: Options{Name: "docker-btrfs"}, ended: make(chan struct{})}
	for _, want := range []string{"does not answer", "has ended"} {
		got := d.Gone()
		for _, part := range []string{"the private daemon docker-btrfs, which this run started next to the user's own, " + want, "its trials fail", "no space left on device"} {
			if !strings.Contains(got, part) {
				t.Errorf("%q does not say %q", got, part)
			}
		}
		if want == "does not answer" {
			close(d.ended)
		}
	}
}
