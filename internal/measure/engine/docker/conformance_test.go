package docker

import (
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// TestConformance puts the adapter through everything, against the daemon
// that is there. Combinations that are not in the table differ from these in
// options that the proof of every Open reads back.
func TestConformance(t *testing.T) {
	t.Parallel()
	own := []string{"mnt", "pid", "ipc", "uts"}
	for _, c := range []struct {
		name   string
		levels map[string]string
		opts   enginetest.Options
	}{
		{"api", nil, enginetest.Options{Own: append([]string{"net"}, own...), Shared: []string{"user"}}},
		{"cli crun host", map[string]string{engine.Client: "cli", engine.Runtime: "crun", engine.Network: "host", engine.Seccomp: "off"},
			enginetest.Options{Own: own, Shared: []string{"net", "user"}, Removes: true}},
		{"api runsc", map[string]string{engine.Runtime: "runsc", engine.Network: "none", engine.Image: "busybox"},
			// Not: hold fails, since where gVisor can't start a program, Docker 20.10 forgets the
			// task that it has made, whose shim stays in its containerd; limits, since the payload
			// is no process of the host's (TestLimitsOfGVisor looks at the sandbox).
			enginetest.Options{Only: enginetest.Variant}},
		{"rootless", map[string]string{engine.Rootless: "yes"}, enginetest.Options{Own: append([]string{"net", "user"}, own...),
			Only: []string{"trials", "isolation", "held", "exec", "at once", "mounts", "beside", "address", "daemons"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}
