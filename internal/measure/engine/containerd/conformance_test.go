package containerd

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestConformance puts the adapter through everything, against the daemon
// that is there.
func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc", "uts"}
	for _, c := range []struct {
		name   string
		levels map[string]string
		opts   enginetest.Options
	}{
		{"runc", nil, enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		{"crun native host", map[string]string{engine.Runtime: "crun", engine.Storage: "native", engine.Network: "host", engine.Seccomp: "off"},
			enginetest.Options{Own: own, Shared: []string{"net", "user"},
				Only: []string{"trials", "stop handled", "stop ignored", "hang", "isolation", "limits", "held", "hold fails", "mounts", "beside"}}},
		{"cli crun", map[string]string{engine.Client: "cli", engine.Runtime: "crun"},
			enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}, Removes: true}},
		{"btrfs", map[string]string{engine.Storage: "btrfs"}, enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"},
			Only: []string{"trials", "hang", "isolation", "limits", "held", "exec", "mounts", "address"}}},
		{"runsc", map[string]string{engine.Runtime: "runsc", engine.Image: "busybox"}, enginetest.Options{Only: enginetest.Variant}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}
