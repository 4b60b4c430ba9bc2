package nerdctl

import (
	"regexp"
	"testing"

	"plimsoll/internal/measure/engine"
	"plimsoll/internal/measure/engine/enginetest"
)

// anothersEnd is what nerdctl fails with before it creates: it asks for the labels of all
// containers there were a moment ago, for --volumes-from, and one of them has gone.
var anothersEnd = regexp.MustCompile(`^nerdctl run: status 1: container "[0-9a-f]{64}" in namespace "plimsoll-nerdctl-[0-9a-f]+": not found$`)

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
			c.opts.Races = anothersEnd
			enginetest.Conformance(t, New(), c.levels, c.opts)
		})
	}
}
