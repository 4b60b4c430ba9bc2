package charliecloud_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plimsoll/internal/common/require"
	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/enginetest"
	"plimsoll/internal/measure/engine/kittest"
)

// ch-run makes user namespaces for root, too: where nobody may, it is not usable.
func TestForbidden(t *testing.T) {
	if !kittest.NoUserNamespaces(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "ch-run")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho 0.38\n"), 0o755))
	for _, root := range []bool{true, false} {
		kit := &engine.Kit{Root: root, User: &engine.User{Name: "u"}, LookPath: func(string) (string, error) { return path, nil }}
		if d := charliecloud.New().Detect(t.Context(), kit); d.Usable || !strings.Contains(d.Reason, "max_user_namespaces is 0") || d.Fix == "" {
			t.Errorf("root %v: %+v", root, d)
		}
	}
}

func TestCharliecloud(t *testing.T) {
	opts := enginetest.Options{Own: []string{"mnt", "user"}, Shared: []string{"pid", "net", "ipc", "uts", "cgroup"},
		Hang: time.Second, Grace: 300 * time.Millisecond}
	for _, rootless := range []string{"no", "yes"} {
		directory, squashfs := opts, opts
		if rootless == "no" { // one form of each whole
			squashfs.Only = enginetest.Variant
		} else {
			directory.Only = enginetest.Variant
		}
		t.Run("directory rootless="+rootless, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, charliecloud.New(), map[string]string{
				engine.Storage: "directory", engine.Rootless: rootless}, directory)
		})
		t.Run("squashfs rootless="+rootless, func(t *testing.T) {
			t.Parallel()
			opts := squashfs
			opts.HidesSignals = "ch-run with SquashFS turns every signal into status 1"
			opts.Skip = map[string]string{"stop handled": "ch-run with SquashFS has no stop", "stop ignored": "ch-run with SquashFS has no stop"}
			enginetest.Conformance(t, charliecloud.New(), map[string]string{
				engine.Storage: "squashfs", engine.Rootless: rootless}, opts)
		})
	}
}
