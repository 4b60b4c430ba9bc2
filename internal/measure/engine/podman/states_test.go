package podman

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// TestDropStates: of what crun keeps goes what says by itself that it is the
// container's, or in the store, and does not run; a user's stays.
func TestDropStates(t *testing.T) {
	dir := t.TempDir()
	p := &program{runID: "abcd1234", user: &engine.User{RuntimeDir: dir}, store: store{root: "/runs/abcd1234/store/root"}}
	note := func(run, name string) string {
		return fmt.Sprintf(`{"root":{"path":"/home/u/x"},"annotations":{%q:%q,%q:%q}}`, engine.Label, run, containerNote, name)
	}
	ended := `{"pid": 0}`
	for id, files := range map[string][2]string{
		"ours":     {note("abcd1234", "plimsoll-abcd1234-1"), ended},
		"torn":     {note("abcd1234", "plimsoll-abcd1234-1"), ""}, // killed before its status
		"runs":     {note("abcd1234", "plimsoll-abcd1234-1"), fmt.Sprintf(`{"pid": %d}`, os.Getpid())},
		"another":  {note("abcd1234", "plimsoll-abcd1234-2"), ended},
		"foreign":  {note("efgh5678", "plimsoll-abcd1234-1"), ended},
		"a user's": {`{"root":{"path":"/home/u/plimsoll-abcd1234-1"}}`, ended},
		"in store": {`{"root":{"path":"/runs/abcd1234/store/root/overlay/x"}}`, ""},
		"beside":   {`{"root":{"path":"/runs/abcd1234/store/rootx/overlay/x"}}`, ended},
		"no json":  {`plimsoll-abcd1234-1`, ended},
	} {
		at := filepath.Join(dir, "crun", id)
		require.NoError(t, os.MkdirAll(at, 0o700))
		for i, name := range []string{"config.json", "status"} {
			if files[i] == "" {
				continue
			}
			require.NoError(t, os.WriteFile(filepath.Join(at, name), []byte(files[i]), 0o600))
		}
	}
	there := func() map[string]bool {
		entries, err := os.ReadDir(filepath.Join(dir, "crun"))
		require.NoError(t, err)
		all := map[string]bool{}
		for _, e := range entries {
			all[e.Name()] = true
		}
		return all
	}
	if err := p.dropStates("plimsoll-abcd1234-1"); err != nil {
		t.Error(err)
	}
	if now := there(); now["ours"] || now["torn"] || len(now) != 7 {
		t.Errorf("of the container are left %v", now)
	}
	if err := p.dropStates(""); err != nil {
		t.Error(err)
	}
	if now := there(); now["in store"] || !now["beside"] || len(now) != 6 {
		t.Errorf("of the store are left %v", now)
	}
}
