package buildconfig

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/record"
)

// kit runs a build of daemon with a configuration file of this text.
func kit(t *testing.T, text string, variables ...string) (k *engine.Kit, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "daemon.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	b := record.Build{Program: "daemon", Level: "new", Path: "/b/daemon", Variables: variables,
		Files: []record.BuildFile{{Name: "daemon.json", Path: path, SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}}}
	return (&engine.Kit{}).With([]record.Build{b}), path
}

// A configuration is in effect while the file and the process have it.
func TestHolds(t *testing.T) {
	k, _ := kit(t, `{"a": {"b": 1}}`)
	c, err := Of(k, "daemon")
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Facts("by file", "by process"); f["settings"] != "daemon.json a.b=1" || f["settings-proof"] != "by file" {
		t.Error(f)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := c.Write(copied, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Holds(os.Getpid()); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(copied, []byte("{ }"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := c.Holds(0); err == nil || !strings.Contains(err.Error(), "has changed since it was given") {
		t.Error(err)
	}
	k, _ = kit(t, `{}`, "GIVEN_TEST=1")
	if c, err = Of(k, "daemon"); err != nil {
		t.Fatal(err)
	}
	if err := c.Holds(os.Getpid()); err == nil || !strings.Contains(err.Error(), "does not have GIVEN_TEST=1 in its environment") {
		t.Error(err)
	}
	if f := c.Facts("by file", "by process"); f["settings"] != "GIVEN_TEST=1" || f["settings-proof"] != "by file; by process" {
		t.Error(f)
	}
}

// What the run needs is not the user's to set, and a file that has changed is another.
func TestOf(t *testing.T) {
	k, path := kit(t, `{"tls": {"x": 1}, "root-dir": "/x"}`)
	c, err := Of(k, "daemon")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Ours("daemon.json", map[string]string{"root": "which is the run's"}); err != nil {
		t.Errorf("root-dir is not root: %v", err)
	}
	if err := c.Ours("daemon.json", map[string]string{"tls": "which is the run's"}); err == nil || err.Error() != "the daemon.json has tls, which is the run's" {
		t.Error(err)
	}
	if none, err := Of(&engine.Kit{}, "daemon"); err != nil || none.any() || none.Facts("", "") != nil || none.Holds(0) != nil {
		t.Errorf("%+v %v", none, err)
	}
	if err := os.WriteFile(path, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Of(k, "daemon"); err == nil || !strings.Contains(err.Error(), "has changed since the run began") {
		t.Error(err)
	}
}
