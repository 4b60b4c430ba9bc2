package podman

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/adapter"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestUnfinished: of what has its storage and nothing else, the run's goes, and
// what is made of an image of somebody's stays, whatever its name.
func TestUnfinished(t *testing.T) {
	kit := enginetest.Kit(t)
	podman, err := exec.LookPath("podman")
	if err != nil || os.Geteuid() != 0 {
		t.Skip("podman and root are needed")
	}
	dir := t.TempDir()
	p := &program{path: podman, runID: kit.RunID, store: store{root: filepath.Join(dir, "root"), run: filepath.Join(dir, "run")}}
	p.global = []string{"--root", p.store.root, "--runroot", p.store.run, "--storage-driver", "vfs"}
	must := func(args ...string) {
		t.Helper()
		if _, err := p.output(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	empty := filepath.Join(dir, "empty.tar")
	require.NoError(t, os.WriteFile(empty, make([]byte, 10240), 0o600))
	own, theirs := "localhost/plimsoll/own:"+kit.RunID, "localhost/theirs:1"
	must("import", empty, own)
	must("tag", own, "localhost/aaa:latest") // by which podman calls the image, too
	must("import", empty, "--message", "theirs", theirs)
	ours, users := adapter.Name(kit.RunID, "1"), adapter.Name(kit.RunID, "2")
	must("create", "--name", ours, own, "/x")
	must("create", "--name", users, theirs, "/x")
	// What podman knows of them beside the storage.
	require.NoError(t, os.RemoveAll(filepath.Join(p.store.root, "libpod")))
	for name, stays := range map[string]bool{ours: false, users: true} {
		thing := p.thing(engine.KindContainer, name)
		if there, err := p.look(t.Context(), thing); err != nil || there == stays {
			t.Errorf("%s: ours %v, %v", name, there, err)
		}
		if err := p.removeContainer(t.Context(), name); err != nil {
			t.Errorf("removing %s: %v", name, err)
		}
		if there, err := p.known(t.Context(), engine.KindContainer, name); err != nil || there != stays {
			t.Errorf("%s: there %v, %v, want %v", name, there, err, stays)
		}
	}
}
