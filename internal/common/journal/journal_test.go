package journal

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// TestTorn: what a kill has torn is ended first.
func TestTorn(t *testing.T) {
	for before, want := range map[string]string{"": "new\n", "old\n": "old\nnew\n", "old\nto": "old\nto\nnew\n", "\n": "\nnew\n"} {
		path := filepath.Join(t.TempDir(), "journal")
		require.NoError(t, os.WriteFile(path, []byte(before), 0o600))
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		require.NoError(t, err)
		require.NoError(t, Append(f, []byte("new")))
		require.NoError(t, f.Close())
		if text, err := os.ReadFile(path); err != nil || string(text) != want {
			t.Errorf("behind %q: %q (%v)", before, text, err)
		}
	}
}
