package podman

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
)

// TestDropStates: of what runtimes keep goes what says by itself that it is the
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
	ours, another := []string{engine.Label + "=abcd1234", containerNote + "=plimsoll-abcd1234-1"}, []string{engine.Label + "=abcd1234", containerNote + "=plimsoll-abcd1234-2"}
	for id, c := range map[string]struct {
		root   string
		pid    int
		labels []string
	}{
		"runc: ours":     {"/home/u/x", 0, ours},
		"runc: runs":     {"/home/u/x", os.Getpid(), ours},
		"runc: another":  {"/home/u/x", 0, another},
		"runc: foreign":  {"/home/u/x", 0, []string{engine.Label + "=efgh5678", ours[1]}},
		"runc: in store": {"/runs/abcd1234/store/root/vfs/x", 0, nil},
	} {
		text, err := json.Marshal(map[string]any{"init_process_pid": c.pid, "config": map[string]any{"rootfs": c.root, "labels": c.labels}})
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "runc", id), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "runc", id, "state.json"), text, 0o600))
	}
	there := func() map[string]bool {
		all := map[string]bool{}
		for _, runtime := range []string{"crun", "runc"} {
			entries, err := os.ReadDir(filepath.Join(dir, runtime))
			require.NoError(t, err)
			for _, e := range entries {
				all[e.Name()] = true
			}
		}
		return all
	}
	if err := p.dropStates("plimsoll-abcd1234-1"); err != nil {
		t.Error(err)
	}
	if now := there(); now["ours"] || now["torn"] || now["runc: ours"] || len(now) != 11 {
		t.Errorf("of the container are left %v", now)
	}
	if err := p.dropStates(""); err != nil {
		t.Error(err)
	}
	if now := there(); now["in store"] || now["runc: in store"] || !now["beside"] || len(now) != 9 {
		t.Errorf("of the store are left %v", now)
	}
}
