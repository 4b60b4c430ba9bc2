package private_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/private"
	"plimsoll/internal/record"
)

// A set is found under the programs' names before the machine's own, and the same files
// are the same set.
func TestSet(t *testing.T) {
	plain := &engine.Kit{Dir: t.TempDir(), LookPath: func(string) (string, error) { return "", os.ErrNotExist }}
	if name, env, err := private.Set(plain, "daemon", "shim"); name != "" || env != nil || err != nil {
		t.Errorf("without builds: %q %v %v", name, env, err)
	}
	old := plain.With([]record.Build{{Program: "daemon", Level: "old", Path: "/opt/daemon-1"}, {Program: "other", Level: "old", Path: "/opt/other"}})
	name, env, err := private.Set(old, "daemon", "shim")
	if err != nil || name == "" || len(env) != 1 {
		t.Fatalf("%q %v %v", name, env, err)
	}
	dir, rest, _ := strings.Cut(strings.TrimPrefix(env[0], "PATH="), ":")
	if to, err := os.Readlink(filepath.Join(dir, "daemon")); err != nil || to != "/opt/daemon-1" || !strings.Contains(rest, "/usr/bin") {
		t.Errorf("%s: %s %v", env[0], to, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "other")); err == nil {
		t.Error("a program of another engine is in the set")
	}
	if again, _, err := private.Set(old, "daemon", "shim"); again != name || err != nil {
		t.Errorf("again: %q, not %q (%v)", again, name, err)
	}
	another := plain.With([]record.Build{{Program: "daemon", Level: "new", Path: "/opt/daemon-2"}})
	if other, _, err := private.Set(another, "daemon", "shim"); other == name || err != nil {
		t.Errorf("another file is the same set: %q (%v)", other, err)
	}
}
