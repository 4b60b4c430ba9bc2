package charliecloud_test

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/charliecloud"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestPulls(t *testing.T) {
	for _, storage := range []string{"directory", "squashfs"} {
		for _, rootless := range []string{"no", "yes"} {
			t.Run(storage+" rootless="+rootless, func(t *testing.T) {
				t.Parallel()
				enginetest.Pulls(t, charliecloud.New(), map[string]string{engine.Storage: storage, engine.Rootless: rootless}, enginetest.PullOptions{})
			})
		}
	}
}
