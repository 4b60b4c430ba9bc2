package cri

import (
	"testing"

	"plimsoll/internal/engine"
	"plimsoll/internal/engine/enginetest"
)

// TestConformance puts the adapter through everything, against every kind of
// server that there is. The cases are the same for all.
func TestConformance(t *testing.T) {
	own := []string{"mnt", "pid", "ipc"}
	for _, endpoint := range []string{containerd, crio} {
		for _, c := range []struct {
			name   string
			levels map[string]string
			opts   enginetest.Options
		}{
			{"runc", map[string]string{engine.Runtime: "runc"}, enginetest.Options{Own: append([]string{"net", "uts"}, own...), Shared: []string{"user"}}},
			{"crun host", map[string]string{engine.Runtime: "crun", engine.Network: "host", engine.Seccomp: "off"},
				enginetest.Options{Own: own, Shared: []string{"net", "uts", "user"}}},
		} {
			t.Run(endpoint+" "+c.name, func(t *testing.T) {
				c.levels[engine.Endpoint] = endpoint
				enginetest.Conformance(t, New(), c.levels, c.opts)
			})
		}
	}
}

// TestPulls: the same for every kind of server.
func TestPulls(t *testing.T) {
	for _, endpoint := range []string{containerd, crio} {
		t.Run(endpoint, func(t *testing.T) {
			enginetest.Pulls(t, New(), map[string]string{engine.Endpoint: endpoint}, enginetest.PullOptions{
				NoDisk: "the CRI tells one size of an image, and what the whole store takes"})
		})
	}
}
