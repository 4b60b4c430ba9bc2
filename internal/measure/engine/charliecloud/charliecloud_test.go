package charliecloud_test

import (
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/enginetest"
)

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
