package features

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/kittest"
)

// TestLauncherDirectory: a directory that was there before is neither removed nor left in
// the ledger; one that the bench has made is.
func TestLauncherDirectory(t *testing.T) {
	for _, before := range []bool{true, false} {
		dir, err := os.MkdirTemp("/tmp", "plimsoll-test*-podman")
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dir), "plimsoll-"), "-podman")
		if !before {
			require.NoError(t, os.Remove(dir))
		}
		ledger := &kittest.Ledger{}
		kit := &engine.Kit{RunID: id, Ledger: ledger, LookPath: func(string) (string, error) { return "mpirun", nil }}
		b := &bench{kit: kit, name: "podman", shared: map[string]*shared{}}
		for range 2 {
			(&try{ctx: t.Context(), b: b}).attempt(func(x *try) {
				x.mpirun()
				x.end("", "")
			})
		}
		for _, s := range b.shared {
			for _, undo := range s.undo {
				undo(t.Context())
			}
		}
		if _, err := os.Lstat(dir); before != (err == nil) {
			t.Errorf("there before: %v; afterwards: %v", before, err)
		}
		if left := ledger.Left(); len(left) > 0 {
			t.Errorf("there before: %v; in the ledger is %v", before, left)
		}
	}
}
