package nerdctl

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc", "uts"}
	for _, c := range []struct {
		name   string
		levels map[string]string
		opts   enginetest.Options
	}{
		{"runc overlayfs", map[string]string{engine.Network: "none"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		{"crun native", map[string]string{engine.Network: "host", engine.Runtime: "crun", engine.Storage: "native", engine.Seccomp: "off"},
			enginetest.Options{Own: own, Shared: []string{"net", "user"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.opts.Removes, c.opts.LosesTail = true, "nerdctl run ends with the container, whether or not it has copied all output"
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}
