package journal

import (
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"plimsoll/internal/common/require"
)

// TestFullDisk: of a line that does not fit nothing stays, and the next one is whole. A
// limit of a file's size cuts a write as a full disk does.
func TestFullDisk(t *testing.T) {
	signal.Ignore(unix.SIGXFSZ)
	defer signal.Reset(unix.SIGXFSZ)
	for name, flag := range map[string]int{"appending": os.O_APPEND, "at a position": 0} {
		path := filepath.Join(t.TempDir(), "journal")
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|flag, 0o600)
		require.NoError(t, err)
		defer f.Close()
		require.NoError(t, Append(f, []byte("one")))
		var was unix.Rlimit
		require.NoError(t, unix.Getrlimit(unix.RLIMIT_FSIZE, &was))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: 6, Max: was.Max}))
		err = Append(f, []byte("two does not fit"))
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_FSIZE, &was))
		if err == nil {
			t.Errorf("%s: what does not fit was written", name)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "one\n" {
			t.Errorf("%s: behind a line that does not fit there is %q (%v)", name, text, err)
		}
		require.NoError(t, Append(f, []byte("three")))
		if text, err := os.ReadFile(path); err != nil || string(text) != "one\nthree\n" {
			t.Errorf("%s: %q (%v)", name, text, err)
		}
	}
}
