//go:build !unit

package bubblewrap_test

import (
	"testing"
	"time"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/bubblewrap"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestBubblewrap(t *testing.T) {
	const noStop = "bwrap hands no signal on to the payload"
	own := []string{"mnt", "pid", "ipc", "uts", "user", "cgroup"}
	for _, rootless := range []string{"no", "yes"} {
		for network, opts := range map[string]enginetest.Options{
			"none": {Own: append([]string{"net"}, own...)},
			"host": {Own: own, Shared: []string{"net"}},
		} {
			t.Run("rootless="+rootless+" network="+network, func(t *testing.T) {
				t.Parallel()
				opts.Hang = time.Second
				if (rootless == "no") == (network == "none") {
					opts.Only = enginetest.Variant
				}
				opts.Skip = map[string]string{"stop handled": noStop, "stop ignored": noStop}
				enginetest.Conformance(t, bubblewrap.New(), map[string]string{
					engine.Rootless: rootless, engine.Network: network}, opts)
			})
		}
	}
}
