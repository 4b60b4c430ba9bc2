package podman

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestConformance puts the adapter through everything, on the Podman that is
// there. Combinations that are not in the table differ from these in options
// that the proof of every Open reads back.
func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc", "uts"}
	for _, c := range []struct {
		name   string
		levels map[string]string
		opts   enginetest.Options
	}{
		{"rootful", map[string]string{engine.Rootless: "no"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}, Removes: true}},
		{"rootful steps runc vfs", map[string]string{engine.Rootless: "no", engine.Client: "steps", engine.Runtime: "runc",
			engine.Network: "host", engine.Storage: "vfs", engine.Seccomp: "off"},
			enginetest.Options{Own: own, Shared: []string{"net", "user"},
				Only: []string{"trials", "exit status", "stop handled", "hang", "isolation", "limits", "held", "exec", "mounts", "beside"}}},
		{"rootless", map[string]string{engine.Rootless: "yes", engine.Network: "bridge"},
			enginetest.Options{Own: append([]string{"net", "user"}, own...), Removes: true}},
		{"btrfs", map[string]string{engine.Rootless: "no", engine.Network: "none", engine.Storage: "btrfs"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}, Removes: true,
				Only: []string{"trials", "isolation", "limits", "held", "mounts"}}},
		{"api rootful", map[string]string{engine.Rootless: "no", engine.Client: "api", engine.Network: "none"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		{"api rootless overlay", map[string]string{engine.Rootless: "yes", engine.Client: "api", engine.Network: "none", engine.Storage: "overlay"},
			enginetest.Options{Own: append([]string{"net", "user"}, own...),
				Only: []string{"trials", "stop handled", "hang", "isolation", "limits", "held", "exec", "at once", "mounts"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}
