package fleet

import (
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
)

// A connection that breaks off in the middle of a file is lost, and no failure of the
// host: it is followed again.
func TestFollowCutOff(t *testing.T) {
	for _, c := range []struct{ name, exit string }{{"run.json", "0"}, {"run.json", "255"}, {logFile, "0"}, {logFile, "255"}} {
		h, _ := beyond(t, "")
		require.NoError(t, bring(t, h, "#!/bin/sh\necho '{\"file\":\""+c.name+"\",\"size\":10,\"anew\":true}'; echo part; exit "+c.exit+"\n"))
		dir := t.TempDir()
		record, err := os.OpenRoot(dir)
		require.NoError(t, err)
		defer record.Close()
		log, err := os.Create(filepath.Join(t.TempDir(), "log"))
		require.NoError(t, err)
		defer log.Close()
		if over, err := h.Follow(t.Context(), record, log); over != nil || !IsLost(err) {
			t.Errorf("%s, status %s: %+v, %v", c.name, c.exit, over, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "run.json")); err == nil {
			t.Errorf("%s, status %s: a part of run.json is in its place", c.name, c.exit)
		}
	}
}
